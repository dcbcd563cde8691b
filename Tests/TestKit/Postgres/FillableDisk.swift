import Foundation

/// A disk that a test fills up under a Postgres server, and empties again (Tests/Faults/disk_full.c).
public struct FillableDisk: Sendable {
    /// What the server is started with.
    public let environment: [String: String]
    private let sign: String

    /// - Parameter directory: one that the server's user can enter.
    public init(in directory: String) async throws {
        let library = directory + "/disk_full.so"
        sign = directory + "/disk-is-full"
        environment = ["LD_PRELOAD": library, "DISK_FULL_SIGN": sign]
        // Every toolchain has a C compiler beside `swift`; the machine itself need not have one.
        let build = """
            clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang
            exec "$clang" -shared -fPIC -O1 -o "$1" "$2" -ldl
            """
        _ = try await ChildProgram.run([
            "bash", "-c", build, "build", library,
            PostgresCluster.root + "/Tests/Faults/disk_full.c",
        ])
    }

    /// From now on no table can grow.
    public func fill() throws {
        try Data().write(to: URL(fileURLWithPath: sign))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: sign)
    }

    /// There is room again.
    public func empty() throws {
        try FileManager.default.removeItem(atPath: sign)
    }
}
