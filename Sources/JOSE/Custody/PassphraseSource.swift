internal import Glibc
internal import Synchronization

/// Where the passphrase of an encrypted key, or the PIN of a token, is read when it is needed. The text itself never stands
/// in a URI, since URIs stand in the database.
enum PassphraseSource: Hashable, Sendable {
    /// `file:/absolute/path`: its first line; readable like a key file.
    case file(String)
    /// `fd:3`: a descriptor that the process was started with, read to its end once.
    case descriptor(Int32)
    /// `credential:NAME`: a file of systemd's `LoadCredential=` or `LoadCredentialEncrypted=`.
    case credential(String)

    /// Longer ones are no passphrases.
    static let maximumLength = 1023

    /// `nil` for anything else.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let value = parts.last.map({ String($0) }), !value.isEmpty else {
            return nil
        }
        switch parts[0] {
        case "file":
            guard value.hasPrefix("/") else { return nil }
            self = .file(value)
        case "fd":
            guard let number = Int32(value), number >= 0, String(number) == value else {
                return nil
            }
            self = .descriptor(number)
        case "credential":
            guard !value.contains("/"), value != ".", value != ".." else { return nil }
            self = .credential(value)
        default: return nil
        }
    }

    /// The octets, without the line end. The caller wipes them.
    ///
    /// - Throws: `KeyError.passphraseSource` with what is wrong with it.
    func read() throws(KeyError) -> [UInt8] {
        var octets: [UInt8]
        switch self {
        case .file(let path): octets = try Self.readFile(path)
        case .descriptor(let number): octets = try Self.readOnce(number)
        case .credential(let name):
            octets = try Self.readFile(try Self.credentialPath(name))
        }
        defer { wipe(&octets) }
        let line = Array(octets.prefix { $0 != 0x0a && $0 != 0x0d })
        guard !line.isEmpty, line.count <= Self.maximumLength else {
            throw .passphraseSource("it must hold a line of 1 to \(Self.maximumLength) octets")
        }
        return line
    }

    /// Where systemd keeps a credential of the unit.
    static func credentialPath(_ name: String) throws(KeyError) -> String {
        guard let directory = getenv("CREDENTIALS_DIRECTORY") else {
            throw .passphraseSource(
                "credential:\(name): CREDENTIALS_DIRECTORY is not set; give the unit LoadCredential="
            )
        }
        return String(cString: directory) + "/" + name
    }

    private static func readFile(_ path: String) throws(KeyError) -> [UInt8] {
        do { return try KeyFile.read(path) } catch { throw .passphraseSource("\(path): \(error)") }
    }

    /// A pipe gives its octets once, while keys are loaded at the start, after SIGHUP and after a token was away. So they
    /// are kept, for as long as the process lives.
    private static let kept = Mutex<[Int32: [UInt8]]>([:])

    private static func readOnce(_ number: Int32) throws(KeyError) -> [UInt8] {
        try kept.withLock { kept throws(KeyError) in
            if let octets = kept[number] { return octets }
            let octets = try readToEnd(number)
            kept[number] = octets
            return octets
        }
    }

    private static func readToEnd(_ number: Int32) throws(KeyError) -> [UInt8] {
        guard isatty(number) == 0 else {
            throw .passphraseSource("fd:\(number) is a terminal; nobody is asked")
        }
        var octets = [UInt8](repeating: 0, count: maximumLength + 2)
        defer { wipe(&octets) }
        var filled = 0
        while filled < octets.count {
            // Somebody who never writes must not hold up the start.
            var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, 5000)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { throw .passphraseSource("fd:\(number): nothing came for 5 s") }
            let count = octets.withUnsafeMutableBytes { buffer in
                Glibc.read(number, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else {
                throw .passphraseSource("fd:\(number) cannot be read (errno \(errno))")
            }
            if count == 0 { break }
            filled += count
        }
        return Array(octets[..<filled])
    }
}
