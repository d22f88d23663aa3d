"""Pages of an invented household's papers, and questions that use other words than they do."""

# Document -> its pages: text, and a question that it answers.
PAPERS: dict[str, list[tuple[str, str]]] = {
    "Oven manual": [
        (
            "Wipe the enamel with warm water and a soft cloth. Steel wool leaves scratches.",
            "how do I clean the inside without damaging it",
        ),
        (
            "Parts and labour are covered for thirty-six months from the day on the receipt.",
            "how long is the guarantee",
        ),
        (
            "Preheat for ten minutes before bread goes in, and place a bowl of water below it.",
            "tips for baking a loaf",
        ),
        (
            "If the display shows E4, the door sensor is blocked. Open and close the door once.",
            "what does the error code mean",
        ),
        (
            "The appliance draws 3.4 kilowatts and needs a socket of its own.",
            "electricity consumption and connection",
        ),
    ],
    "Lease": [
        (
            "The tenant may keep one cat. Dogs need the written consent of the owner.",
            "are pets allowed",
        ),
        (
            "Notice is three months to the end of a quarter and must be given on paper.",
            "how to terminate the contract",
        ),
        (
            "A deposit of two monthly rents is held in an escrow account and bears interest.",
            "what security money do we pay",
        ),
        (
            "The stairwell is swept on Saturdays by the flats in turn.",
            "who cleans the common hallway",
        ),
        (
            "Rent rises with the consumer price index once a year, in April.",
            "when does the monthly payment go up",
        ),
    ],
    "Garden notes": [
        (
            "Tomatoes went out in mid May after the last frost and were tied to canes.",
            "when were the seedlings planted outside",
        ),
        (
            "Slugs ate the lettuce. A ring of copper tape around the bed kept them away.",
            "how to stop snails",
        ),
        (
            "The compost needs turning every three weeks and a handful of straw.",
            "looking after the heap of kitchen waste",
        ),
        (
            "The pear tree was grafted with a Conference scion in late winter.",
            "which variety of fruit did we add",
        ),
        (
            "Rainwater from the shed roof fills the barrel in one good storm.",
            "collecting water for the plants",
        ),
    ],
    "Car service": [
        (
            "Brake pads at the front were down to three millimetres and were replaced.",
            "what was wrong with stopping",
        ),
        (
            "Oil and filter were changed at 84,000 kilometres; the next change is at 99,000.",
            "mileage for the next lubricant service",
        ),
        (
            "Winter tyres lie in the depot of the garage under the number 2218.",
            "where are the snow wheels stored",
        ),
        (
            "The battery gave 11.8 volts at rest and should be watched.",
            "why might it not start in the cold",
        ),
        (
            "The air conditioning lost its coolant through a porous seal.",
            "reason the cabin no longer gets cool",
        ),
    ],
    "School letters": [
        (
            "The trip to the coast leaves on Tuesday at seven from the side gate.",
            "departure time of the excursion",
        ),
        (
            "Children with a fever stay home until a full day has passed without one.",
            "rules when a pupil is ill",
        ),
        (
            "Swimming lessons need a cap, goggles and a towel with the name on it.",
            "what to pack for the pool",
        ),
        (
            "Report cards are handed out on the last Friday before the holidays.",
            "when do we get the grades",
        ),
        ("Parents who can help at the fair sign the list in the hall.", "volunteering at the fete"),
    ],
    "Insurance": [
        (
            "Damage by water from burst pipes is insured, flooding by rivers is not.",
            "does the policy pay for an overflowing stream",
        ),
        (
            "Claims must be reported within a week, with photographs.",
            "deadline for telling them about a loss",
        ),
        ("Bicycles are covered up to 1,500 if they were locked.", "stolen bike compensation"),
        ("The excess is 200 for each case.", "how much do we pay ourselves"),
        ("Jewellery above 5,000 has to be kept in a safe.", "where must valuables be stored"),
    ],
    "Recipes": [
        (
            "Feed the sourdough with equal weights of rye flour and water at night.",
            "keeping the starter alive",
        ),
        (
            "Soak the chickpeas for twelve hours, then simmer them with a bay leaf.",
            "preparing dried legumes",
        ),
        (
            "Fold the egg whites in last, or the mousse collapses.",
            "why did the dessert lose its air",
        ),
        (
            "Salt the aubergines and press them for half an hour against bitterness.",
            "taking away the harsh taste of eggplants",
        ),
        (
            "The jam sets at 104 degrees; a drop on a cold plate must wrinkle.",
            "how to know the marmalade is done",
        ),
    ],
    "Health": [
        (
            "The tetanus shot was given in March and lasts for ten years.",
            "when is the next vaccination due",
        ),
        (
            "Blood pressure was 128 over 82 on average over two weeks.",
            "results of the home measurements",
        ),
        (
            "The dentist found a crack in the upper left molar and made a crown.",
            "which tooth was repaired",
        ),
        (
            "Exercises for the knee: three times fifteen, on the stairs, without pain.",
            "physiotherapy for the leg",
        ),
        (
            "Allergic to penicillin; erythromycin was well tolerated.",
            "which antibiotic must be avoided",
        ),
    ],
}

# Questions that none of the papers answers.
BESIDE_THE_POINT = [
    "how do whales migrate in winter",
    "who won the chess championship",
    "compile a rust program",
    "history of the roman senate",
    "what is the boiling point of mercury",
    "train from lisbon to porto",
    "best trail running shoes",
    "how to knit a scarf",
    "meaning of the word sonder",
    "tax return for freelancers",
    "guitar chords for beginners",
    "mortgage interest rates",
    "learn japanese verbs",
    "repair a laptop screen",
    "the plot of hamlet",
    "moon landing date",
    "python list comprehension",
    "how to fold a paper crane",
    "wedding invitation wording",
    "football league table",
]
