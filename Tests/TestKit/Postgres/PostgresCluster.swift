import Foundation
import Glibc
import Synchronization

/// A private Postgres server, made by `script/dev-postgres` and gone with this process, however that ends.
public final class PostgresCluster: Sendable {
    private static let sharedCluster = Task { try await PostgresCluster() }

    /// The one that all tests of this process share; each takes a database of its own. Tests that stop or kill a
    /// server make their own with `init()`.
    public static func shared() async throws -> PostgresCluster {
        try await sharedCluster.value
    }

    /// The folder `script/dev-postgres` works in.
    public let directory: String
    /// The cluster's superuser URL for the database `broker`, without any schema.
    public let url: String
    /// Held open while the cluster is wanted: its end is the watcher's sign to clean up.
    private let leash: FileHandle
    /// By name: each made once, when it is first asked for.
    private let templates = Mutex<[String: Task<String, any Error>]>([:])
    private let databases = Atomic<Int>(0)

    /// Makes and starts a cluster.
    public convenience init() async throws {
        try await self.init { directory in try await Self.devPostgres("start", directory) }
    }

    /// Makes and starts a cluster whose server runs with these variables in its environment.
    public convenience init(environment: [String: String]) async throws {
        let variables = environment.map { "\($0)=\($1)" }
        try await self.init { directory in
            try await ChildProgram.run(["env"] + variables + [Self.script, "start", directory])
        }
    }

    /// Makes and starts a streaming standby of a running cluster, with all that is in it.
    public convenience init(standbyOf primary: PostgresCluster) async throws {
        try await self.init { directory in
            try await ChildProgram.run([Self.script, "standby", directory, primary.directory])
        }
    }

    private init(start: @Sendable (_ directory: String) async throws -> String) async throws {
        var path = Array("/tmp/broker-test-pg-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else { throw POSIXError(.EIO) }
        let directory = String(
            decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The server's user must be able to enter.
        chmod(directory, 0o755)
        self.directory = directory
        leash = try Self.watch(directory)
        url = try await start(directory)
    }

    deinit { try? leash.close() }

    /// The URL of a new database with every migration applied, each by plain `psql`.
    public func freshDatabase() async throws -> String {
        try await database(like: "migrated_by_psql") { url in
            for file in try Self.migrationFiles() {
                _ = try await ChildProgram.run([
                    "psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", file,
                ])
            }
        }
    }

    /// The URL of a new copy of the database `name`, which is made once a cluster.
    ///
    /// - Parameter fill: gets the URL of that database, empty; no connection to it may be left in the end.
    public func database(
        like name: String, filledBy fill: @escaping @Sendable (_ url: String) async throws -> Void
    ) async throws -> String {
        let template = templates.withLock { templates in
            if let template = templates[name] { return template }
            let url = url
            let template = Task {
                try await Self.query("CREATE DATABASE \(name)", at: url)
                try await fill(Self.replaceDatabase(of: url, by: name))
                return name
            }
            templates[name] = template
            return template
        }
        return try await createDatabase(template: try await template.value)
    }

    /// The URL of a new database with nothing in it.
    public func emptyDatabase() async throws -> String {
        try await createDatabase(template: "template0")
    }

    private func createDatabase(template: String) async throws -> String {
        let number = databases.add(1, ordering: .relaxed).newValue
        try await Self.query("CREATE DATABASE test_\(number) TEMPLATE \(template)", at: url)
        return Self.replaceDatabase(of: url, by: "test_\(number)")
    }

    /// Runs SQL through `psql` and gives its unaligned, tuples-only output without the last line break.
    @discardableResult
    public static func query(_ sql: String, at url: String) async throws -> String {
        try await ChildProgram.run([
            "psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql,
        ])
    }

    /// Fast shutdown.
    public func stop() async throws {
        _ = try await ChildProgram.run([Self.script, "stop", directory])
    }

    /// Starts it again; the URL stays the same.
    public func start() async throws {
        _ = try await Self.devPostgres("start", directory)
    }

    /// Lets a standby take writes.
    public func promote() async throws {
        _ = try await Self.devPostgres("promote", directory)
    }

    /// The folder of the server's socket.
    public var socketDirectory: String {
        URL(fileURLWithPath: directory + "/run").resolvingSymlinksInPath().path
    }

    /// Ends every process of the server with SIGKILL, as a power cut would.
    ///
    /// Returns when the last one is gone.
    public func kill() async throws {
        for process in try signal(SIGKILL) {
            while try Self.isAlive(process) { await Task.yield() }
        }
    }

    private static func isAlive(_ process: pid_t) throws -> Bool {
        let path = "/proc/\(process)/stat"
        guard let stat = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        // The state is the first field after the program's name in brackets; Z is a zombie.
        return stat.split(separator: ")").last?.hasPrefix(" Z") != true
    }

    /// Sends a signal to the postmaster and all its children: SIGSTOP halts the server, SIGCONT lets it go on.
    ///
    /// - Returns: Their process numbers.
    @discardableResult
    public func signal(_ signal: Int32) throws -> [Int32] {
        let pidFile = try String(
            contentsOfFile: directory + "/data/postmaster.pid", encoding: .utf8)
        guard let postmaster = pidFile.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        let children = try String(
            contentsOfFile: "/proc/\(postmaster)/task/\(postmaster)/children", encoding: .utf8)
        let processes = [postmaster] + children.split(separator: " ").compactMap { pid_t($0) }
        for process in processes { Glibc.kill(process, signal) }
        return processes
    }

    /// The same URL for another database.
    public static func replaceDatabase(of url: String, by name: String) -> String {
        url.replacingOccurrences(of: ":///broker?", with: ":///\(name)?")
    }

    /// The repository's root.
    public static let root: String = {
        let here = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        return (0..<4).reduce(here) { url, _ in url.deletingLastPathComponent() }.path
    }()

    /// The folder with the migrations.
    public static let migrations = root + "/migrations"

    private static let script = root + "/script/dev-postgres"

    private static func migrationFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: migrations)
            .filter { $0.hasSuffix(".sql") }.sorted().map { migrations + "/" + $0 }
    }

    private static func devPostgres(_ command: String, _ directory: String) async throws -> String {
        try await ChildProgram.run([script, command, directory])
    }

    /// Starts a process that waits for the end of its input, then stops the cluster and removes it: also when this
    /// process was killed.
    private static func watch(_ directory: String) throws -> FileHandle {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let silence = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer {
            close(ends[0])
            close(silence)
        }
        let cleanUp = """
            trap '' INT TERM HUP
            # What another thread was about to hand to another child must not stay open here.
            for path in /proc/self/fd/*; do
                descriptor=${path##*/}
                [ "$descriptor" -le 2 ] || [ "$descriptor" -eq 255 ] || eval "exec $descriptor>&-"
            done
            read -r
            "$1" stop "$2"
            rm -rf "$(readlink -f "$2/data")" "$(readlink -f "$2/run")" "$2"
            """
        try ChildProgram.spawn(
            ["bash", "-c", cleanUp, "watcher", script, directory], input: ends[0], output: silence,
            errors: silence)
        return FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    }
}
