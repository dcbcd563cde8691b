import Foundation
import Glibc
import Synchronization

/// A TPM in software (swtpm) on a port of the loopback interface.
public final class SoftTPM: Sendable {
    /// Holds the TPM's state and the keys that it wrapped.
    public let directory: TemporaryDirectory
    private let port: UInt16
    private let process = Mutex<RunningProcess?>(nil)
    /// Ends the TPM when this process has ended, however that was.
    private let watcher = Mutex<RunningProcess?>(nil)

    /// Starts a new TPM.
    public init() async throws {
        directory = try TemporaryDirectory()
        port = try Self.freePair()
        try await start()
    }

    /// What `TPM2OPENSSL_TCTI` must say.
    public var tcti: String { "swtpm:host=127.0.0.1,port=\(port)" }

    /// The environment in which the provider finds this TPM, and is silent about those that are away.
    public var environment: [String: String] {
        ["TPM2OPENSSL_TCTI": tcti, "TSS2_LOG": "all+NONE"]
    }

    /// Starts it, with the state it has, and waits until it answers.
    public func start() async throws {
        let started = try RunningProcess(
            [
                "swtpm", "socket", "--tpm2", "--tpmstate", "dir=\(directory.path)", "--server",
                "type=tcp,port=\(port)", "--ctrl", "type=tcp,port=\(port + 1)", "--flags",
                "not-need-init,startup-clear",
            ], environment: ProcessInfo.processInfo.environment)
        process.withLock { $0 = started }
        let watching = try RunningProcess(
            [
                "sh", "-c",
                "tail --pid=\(getpid()) -f /dev/null; kill -9 \(started.identifier)",
            ], environment: ProcessInfo.processInfo.environment)
        watcher.withLock { $0 = watching }
        for _ in 0..<500 {
            if try await runProcess(tool(["tpm2_getrandom", "--hex", "4"])).status == 0 { return }
        }
        throw ProcessFailure(description: "swtpm does not answer: \(try started.errorText())")
    }

    /// Ends it as a crash would.
    public func kill() async {
        watcher.withLock { $0 = nil }
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        running?.signal(SIGKILL)
        _ = await running?.status()
    }

    /// SIGSTOP or SIGCONT: it is there and does not answer, and answers again.
    public func signal(_ number: Int32) { process.withLock { $0?.signal(number) } }

    /// Lets the TPM make a key and wrap it as `TSS2 PRIVATE KEY`; the file's path.
    public func wrappedKey(_ name: String, _ options: [String]) async throws -> String {
        let path = directory.file(name)
        try await runChecked(
            tool(
                [
                    "openssl", "genpkey", "-provider", "tpm2", "-provider", "default",
                    "-propquery", "?provider=tpm2", "-out", path,
                ] + options))
        chmod(path, 0o600)
        try await flush()
        return path
    }

    /// Lets the TPM make a P-256 key and keep it at `handle`.
    public func persistentKey(_ handle: String) async throws {
        let (parent, key) = (directory.file("parent"), directory.file("key"))
        let commands = [
            ["tpm2_createprimary", "-C", "o", "-G", "ecc", "-c", parent],
            [
                "tpm2_create", "-C", parent, "-G", "ecc:ecdsa-sha256", "-u", key + ".pub", "-r",
                key + ".priv", "-a", "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign",
            ],
            ["tpm2_load", "-C", parent, "-u", key + ".pub", "-r", key + ".priv", "-c", key],
            ["tpm2_evictcontrol", "-C", "o", "-c", key, handle],
        ]
        for command in commands {
            try await runChecked(tool(command))
            try await flush()
        }
    }

    /// Forgets wrong authorizations, before there are so many that it accepts none.
    public func clearLockout() async throws {
        try await runChecked(tool(["tpm2_dictionarylockout", "--clear-lockout"]))
    }

    /// There is nobody here who swaps a TPM's few places for keys.
    private func flush() async throws { try await runChecked(tool(["tpm2_flushcontext", "-t"])) }

    private func tool(_ command: [String]) -> [String] {
        ["env", "TPM2TOOLS_TCTI=\(tcti)"] + environment.map { "\($0)=\($1)" } + command
    }

    /// A port that nobody has, and neither the next.
    private static func freePair() throws -> UInt16 {
        for _ in 0..<100 {
            guard let port = bound(0), port < .max else { continue }
            if bound(port + 1) != nil { return port }
        }
        throw POSIXError(.EADDRINUSE)
    }

    private static func bound(_ port: UInt16) -> UInt16? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard bind(descriptor, $0, length) == 0,
                    getsockname(descriptor, $0, &length) == 0
                else { return nil }
                return UnsafeRawPointer($0).load(as: sockaddr_in.self).sin_port.bigEndian
            }
        }
    }
}
