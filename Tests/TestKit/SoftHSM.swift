import Foundation

/// A token of SoftHSM with a directory of its own.
public final class SoftHSM: Sendable {
    /// SoftHSM's PKCS #11 module.
    public static let module = "/usr/lib/softhsm/libsofthsm2.so"

    /// Holds the configuration, the tokens and the PIN's file.
    public let directory: TemporaryDirectory
    /// The token's label.
    public let label: String
    /// The user's PIN.
    public let pin: String

    /// Makes an initialized token without keys.
    public init(label: String = "broker", pin: String = "canary-pin-1") async throws {
        self.label = label
        self.pin = pin
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory.file("tokens"), withIntermediateDirectories: false)
        try directory.write(
            Array("directories.tokendir = \(directory.file("tokens"))\nlog.level = ERROR\n".utf8),
            to: "softhsm2.conf")
        try directory.write(Array("\(pin)\n".utf8), to: "pin")
        try await addToken(label: label)
    }

    /// The environment in which the module finds this token.
    public var environment: [String: String] {
        ["SOFTHSM2_CONF": directory.file("softhsm2.conf")]
    }

    /// One more token, with the same PIN.
    public func addToken(label: String) async throws {
        try await runChecked(
            inEnvironment([
                "softhsm2-util", "--init-token", "--free", "--label", label, "--so-pin",
                "87654321", "--pin", pin,
            ]))
    }

    /// Lets the token make a key pair.
    ///
    /// - Parameter kind: in the words of `pkcs11-tool`, such as `EC:prime256v1` or `rsa:2048`.
    public func generate(_ kind: String, object: String, id: String) async throws {
        try await tool("--keypairgen", "--key-type", kind, "--label", object, "--id", id)
    }

    /// The public key, DER, as another program reads it out of the token.
    public func publicKey(object: String) async throws -> [UInt8] {
        let file = directory.file("public-\(object).der")
        try await tool(
            "--read-object", "--type", "pubkey", "--label", object, "--output-file", file)
        return try directory.read("public-\(object).der")
    }

    /// Runs `pkcs11-tool` on the token, logged in.
    public func tool(_ arguments: String...) async throws {
        try await runChecked(
            inEnvironment(
                [
                    "pkcs11-tool", "--module", Self.module, "--token-label", label, "--login",
                    "--pin", pin,
                ] + arguments))
    }

    private func inEnvironment(_ command: [String]) -> [String] {
        ["env"] + environment.map { "\($0)=\($1)" } + command
    }

    /// The URI of a key. `module` stands before SoftHSM's own.
    public func uri(object: String, module: String = SoftHSM.module) -> String {
        "pkcs11:token=\(label);object=\(object);type=private?module-path=\(module)"
            + "&pin-source=file:\(directory.file("pin"))"
    }

    /// Takes all tokens away: no file of theirs is found any more.
    public func takeAway() throws {
        try FileManager.default.moveItem(
            atPath: directory.file("tokens"), toPath: directory.file("away"))
        try FileManager.default.createDirectory(
            atPath: directory.file("tokens"), withIntermediateDirectories: false)
    }

    /// Gives back what `takeAway` took.
    public func giveBack() throws {
        try FileManager.default.removeItem(atPath: directory.file("tokens"))
        try FileManager.default.moveItem(
            atPath: directory.file("away"), toPath: directory.file("tokens"))
    }
}
