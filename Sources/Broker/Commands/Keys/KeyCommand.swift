import AssertionMint
import JOSE

/// `broker key generate|add|activate|retire|list|rotate`.
enum KeyCommand {
    static let help = """
        Usage: broker key generate --alg ES256|PS256 --out FILE
               broker key add CLIENT_ID --uri URI [--kid KID]
               broker key activate CLIENT_ID KID [--now | --at TIME]
               broker key retire CLIENT_ID KID [--now]
               broker key list [CLIENT_ID]
               broker key rotate CLIENT_ID (--out FILE | --uri URI) [--no-wait]
                                 [--probe [--probe-for 10m] [--ca-file FILE] [--use-proxy]]

        generate  makes a private key (P-256 for ES256, RSA of 2048 bits for PS256) as unencrypted
                  PKCS #8 PEM in FILE, which must not exist yet and gets mode 0600. Prints the key's
                  kid (its RFC 7638 thumbprint) and the URI to name it by.
        add       publishes the key at URI in the client's key set; it does not sign yet.
        activate  lets it sign, on all replicas at once, \(KeyOverlap.published) s after it was added; the one that signed
                  is published on. --at 2026-12-01T03:00:00Z lets it take over then, on the database's
                  clock, if a replica runs; --at never takes that back.
        retire    takes a key out of the set: one that never signed at once, one that did when the
                  last assertion it signed has expired and a minute for clocks has passed.
        list      client, kid, alg, state, seconds in that state, seconds until the next step may be,
                  seconds until it takes over by itself (or -), URI.
        rotate    all of it: makes a key in FILE (or takes the one at URI, in an HSM say), adds it, waits,
                  activates it, waits, retires the old one. Interrupted, it goes on where it was when it
                  is run again with the same FILE or URI. --no-wait does what can be done now and ends
                  with 75 when a wait comes next. Every replica must reach the key under the same URI
                  before it is activated: copy FILE to them while it is pending.
                  --probe asks every issuer of the client, by a token request with a worthless code, whether
                  it accepts the new key, and lets the key sign only then; it asks for --probe-for at most,
                  then ends with 75. --ca-file FILE has the authorities to trust instead of the system's.

        A KID that begins with a dash comes after '--'.
        --now is for a key that leaked: it leaves out the waiting times that keep providers working.
        Keys in a declaration must say the same before it is applied again: 'apply' refuses what would
        take a key away that signs.
        \(DatabaseOptions.help)
        """

    static func run(_ words: [String]) async throws(CommandError) {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "generate": try KeyGenerateCommand.run(rest)
        case "add": try await KeyChangeCommand.add(rest)
        case "activate": try await KeyChangeCommand.activate(rest)
        case "retire": try await KeyChangeCommand.retire(rest)
        case "list": try await KeyListCommand.run(rest)
        case "rotate": try await KeyRotateCommand.run(rest)
        default:
            throw .usage(
                "the word after 'key' must be generate, add, activate, retire, list or rotate")
        }
    }

    static func clientId(_ text: String) throws(CommandError) -> ClientId {
        guard let client = ClientId(text) else {
            throw .usage("CLIENT_ID: no such client_id is possible")
        }
        return client
    }

    /// A key whose private half is at hand.
    struct OpenedKey {
        let key: PrivateKey
        let declared: Declaration.Key

        var kid: String { declared.kid }
    }

    /// The key at a URI, opened, so that nothing is published that cannot sign.
    static func open(_ uri: String, kid: String? = nil) throws(CommandError) -> OpenedKey {
        do {
            let key = try PrivateKey.load(uri: uri)
            var jwk = key.publicJWK
            let kid = kid ?? jwk.thumbprint
            jwk.kid = kid
            return OpenedKey(
                key: key,
                declared: Declaration.Key(kid: kid, uri: uri, state: .pending, publicJWK: jwk))
        } catch {
            throw .refused("\(uri): \(error)")
        }
    }
}
