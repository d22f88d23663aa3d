"""What is nobody's business: chats that no portrait is made of.

A portrait is read by every connected AI client, before any question was asked. So chats about
health, money of one's own, intimacy, faith, politics, the law and secrets are counted in the
inventory and left out of everything else. That goes by words, in the languages below; it errs
towards leaving out, and it cannot know what is private without saying so.
"""

import re

from backread.text.secret_scan import secrets_in

# Stems; each stands at the beginning of a word. Plain words of work (invoice, bank API, model
# training) are not among them.
_WORDS = """
    diagnos symptom therap psychiatr psycholog depress anxiety antidepress medication prescri
    miscarriage pregnan fertil menstru contracept cancer tumou? chemo diabet epilep hiv std
    hospital surgery surgeon clinic disease illness disorder adhd autis bipolar suicid self-harm
    addict alcoholi rehab overdose blood.pressure weight.loss eating.disorder panic.attack
    burnout insomnia my.doctor
    salary salaries my.debt debts mortgage my.loan bankrupt overdraft credit.score credit.card
    iban my.bank bank.account tax.return my.taxes inheritance alimony net.worth payslip
    my.income my.savings retirement.fund unemployment.benefit
    sexual sexuality erotic porn libido intimacy affair divorce custody abuse assault harass
    gay lesbian transgender coming.out
    prayer my.faith my.church mosque synagogue confession religio
    my.vote voted political.party trade.union asylum immigration.status visa.refus deport
    lawsuit lawyer my.attorney criminal.record arrested probation restraining
    password passwords passphrase pin.code seed.phrase recovery.phrase private.key api.key
    diagnose krankheit krankenhaus therapie medikament schwanger depression krebs arzttermin
    gehalt schulden hypothek kredit.von steuererklärung konto.?nummer kontostand insolvenz erbe
    scheidung sorgerecht sexuell missbrauch anwalt strafanzeige passwort geheimzahl
    maladie hôpital médicament enceinte grossesse dépression salaire dettes hypothèque
    compte.bancaire divorce avocat mot.de.passe impôts
    enfermedad hospital medicamento embarazo embarazada depresión cáncer sueldo salario deudas
    hipoteca cuenta.bancaria divorcio abogado contraseña impuestos
    malattia ospedale farmaco gravidanza stipendio debiti mutuo divorzio avvocato
    doença hospital remédio grávida salário dívidas divórcio advogado senha
    болезн больниц лекарств беременн депресси зарплат долг ипотек развод адвокат пароль
"""
_UNSPACED = """
    疾病 医院 症状 诊断 抑郁 怀孕 癌 药物治疗 工资 债务 房贷 银行卡 离婚
    律师 密码 性生活 病気 病院 診断 鬱 うつ病 妊娠 癌 給料 借金 住宅ローン
    離婚 弁護士 パスワード 질병 병원 진단 우울증 임신 월급 대출 이혼 변호사
    비밀번호
""".split()  # noqa: SIM905 - easier to read
_SENSITIVE = re.compile(
    "(?<!\\w)(?:"
    + "|".join(word.replace(".", r"[\s-]?") for word in _WORDS.split())
    + r")\w*|"
    + "|".join(_UNSPACED),
    re.IGNORECASE,
)
_MENTIONS = 2  # in the text of a chat whose title says nothing


def is_sensitive(text: str) -> bool:
    """Whether a sentence, a name or a title touches on it, or holds a key or password."""
    return _SENSITIVE.search(text) is not None or bool(secrets_in([text]))


def is_private(title: str, texts: list[str]) -> bool:
    """Whether a chat is about it, by its title or by what the person said in it."""
    if is_sensitive(title):
        return True
    mentions = 0
    for text in texts:
        mentions += len(_SENSITIVE.findall(text))
        if mentions >= _MENTIONS or secrets_in([text]):
            return True
    return False
