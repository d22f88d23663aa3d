"""The Celery application: how the id of a queued job gets from the outbox to a worker.

Messages carry an id and nothing else. Losing one, or getting one twice, changes nothing: the
row in the database decides whether a job runs (see `backread/jobs/runner.py`).
"""

from celery import Celery
from kombu.exceptions import ChannelError
from kombu.exceptions import OperationalError as BrokerError

from backread.jobs.registry import Queue, queue_of
from backread.log import get_logger
from backread.settings import Settings

RUN_JOB = "backread.run_job"
SWEEP = "backread.sweep"

# A person waits for the request that sends, and a job that is not sent is found by the sweeper.
_ONE_TRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0}

_log = get_logger(__name__)

app = Celery("backread", set_as_current=False)
app.conf.update(
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_default_queue=Queue.INTERACTIVE.value,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    # Jobs longer than the visibility timeout are delivered again; the second delivery sees a live
    # lease and is dropped. The other two make redelivery happen near that time: without them it
    # takes 100 seconds longer (https://github.com/celery/kombu/pull/2558).
    broker_transport_options={
        "visibility_timeout": 600,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 2,
        "socket_timeout": 10,
    },
    beat_scheduler="celery.beat:Scheduler",  # in memory: `schedule.py` is all there is
)


def connect(settings: Settings) -> Celery:
    """Points this process at the broker of `settings`. Until then nothing is sent, and jobs wait
    for a sweeper or a polling worker to find them."""
    app.conf.update(broker_url=settings.broker_url or None)
    return app


def is_connected() -> bool:
    return bool(app.conf.broker_url)


def send(job_id: str, name: str) -> bool:
    """Puts a job's id on its queue. False when there is no broker or it cannot be reached: the
    sweeper sends the job later, so the caller has nothing to do."""
    if not is_connected():
        return False
    try:
        # A connection of its own: jobs are sent seldom, and a kept one would be dead after the
        # broker's restart and shared after a fork.
        with app.connection_for_write(transport_options=_ONE_TRY) as connection:
            app.send_task(
                RUN_JOB,
                args=[job_id],
                queue=queue_of(name).value,
                connection=connection,
                retry=False,
            )
    except (BrokerError, ChannelError, OSError) as error:
        _log.warning("job_not_sent", job_id=job_id, job=name, error=type(error).__name__)
        return False
    return True
