"""The one Postgres that the broker and every peer use, on a Unix socket, durable as in production."""
import os
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from . import processes


class Postgres:
    """A private cluster of script/dev-postgres with the databases `broker`, `peers` and, later, `broker_history`."""

    def __init__(self, root, directory, cores):
        self.script, self.dir = root / "script/dev-postgres", Path(directory)
        self.started = False
        processes.run([self.script, "init", self.dir], "making the Postgres cluster")
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        # A quarter of the memory as its manual advises; checkpoints so rare that none falls into one run and not another.
        settings = {
            "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
            "shared_buffers": f"{min(memory // 4 >> 20, 2048)}MB",
            "max_wal_size": "16GB", "min_wal_size": "2GB", "checkpoint_timeout": "30min", "max_connections": "300",
        }
        with open(self.dir / "data/postgresql.conf", "a") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def start(self):
        self.started = True
        url = processes.run([self.script, "start", self.dir], "starting Postgres").strip()
        query = parse_qs(urlsplit(url).query)
        self.host, self.port, self.user = query["host"][0], query["port"][0], query["user"][0]
        self.query = urlsplit(url).query
        # The first line of the file is the postmaster.
        self.pid = int((self.dir / "data/postmaster.pid").read_text().split("\n", 1)[0])
        self.sql("CREATE DATABASE peers", "postgres")

    def stop(self):
        if self.started:
            processes.run([self.script, "stop", self.dir], "stopping Postgres")
            self.started = False

    def url(self, database):
        return f"postgresql:///{database}?{self.query}"

    def environment(self, database):
        return {"PGHOST": self.host, "PGPORT": self.port, "PGUSER": self.user, "PGDATABASE": database}

    def sql(self, text, database, *options):
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *options, "-d", self.url(database)]
        return processes.run([*command, "-c", text], "SQL").strip()

    def count(self, table, database):
        return int(self.sql(f"SELECT count(*) FROM {table}", database))

    def clear(self, database, *tables):
        """Every run begins with empty tables and a checkpoint behind it."""
        self.sql(f"TRUNCATE {', '.join(tables)}", database)
        self.sql("CHECKPOINT", database)

    def settings(self):
        """Whatever is not the default, and what durability depends on."""
        rows = self.sql(
            """SELECT name, current_setting(name) FROM pg_settings
               WHERE source IN ('configuration file', 'command line') AND name !~ '(_file|directory|directories|timezone|^lc_)'
                  OR name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method', 'wal_compression', 'jit')
               ORDER BY name""", "postgres")
        return dict(row.split("|", 1) for row in rows.splitlines())

    def version(self):
        return self.sql("SHOW server_version", "postgres")
