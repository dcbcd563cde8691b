"""A store with a past: millions of used jti in the slots that long service would have filled."""
import time
from concurrent.futures import ThreadPoolExecutor

DATABASE = "broker_history"
SLOT_SECONDS = 120  # of broker.assertion_jti


def fill(broker, postgres, rows, cores):
    """Copies the database `broker` and adds so many rows, with ends spread evenly over the four slots that follow: mints fall
    into them once the rows are made, and as late as any may end, so that none is emptied before the measurement's end."""
    broker.clear()
    postgres.sql(f"CREATE DATABASE {DATABASE} TEMPLATE broker", "postgres")
    first = int(time.time()) // SLOT_SECONDS + 1
    slots = range(first, first + 4)

    def fill_slot(slot):
        # The index is made after the rows, as a restore does; it is the same afterwards.
        partition = f"assertion_jti_{slot % 16:02d}"
        index = postgres.sql(f"SELECT indexdef FROM pg_indexes WHERE schemaname = 'broker' AND indexname = '{partition}_once'", DATABASE)
        postgres.sql(
            f"""BEGIN;
            DROP INDEX broker.{partition}_once;
            INSERT INTO broker.{partition} (expires_at, slot, jti, client_id, dpop_jkt)
            SELECT {slot * SLOT_SECONDS} + i % {SLOT_SECONDS}, {slot},
                -- As the broker makes them: two octets of the second, then the random ones.
                translate(encode(substr(int4send({slot * SLOT_SECONDS} + i % {SLOT_SECONDS}), 3)
                    || uuid_send(gen_random_uuid()), 'base64'), '+/', '-_'), 'app_es256',
                left(translate(encode(sha256(int4send(i % 200000)), 'base64'), '+/', '-_'), 43)
            FROM generate_series(1, {rows // len(slots)}) AS i;
            {index};
            COMMIT""", DATABASE)

    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(fill_slot, slots))
    # ANALYZE so that the planner knows; VACUUM sets the hint bits, which long service would have set already.
    postgres.sql("VACUUM (ANALYZE) broker.assertion_jti", DATABASE)
    postgres.sql("CHECKPOINT", DATABASE)


def count(postgres):
    return postgres.count("broker.assertion_jti", DATABASE)


def drop(postgres):
    postgres.sql(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)", "postgres")
