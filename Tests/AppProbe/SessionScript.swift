import ClientShim
import Glibc
import JOSE

/// An app that was signed in by another process: it uses the session that they share, step by step, and says what came of it.
struct SessionScript {
    /// Holds `records`, `keys` and, with the client's key, `client`.
    let directory: String
    let caFile: String

    /// Steps are `await=FIFO` (an octet from a pipe), `call=URL` and `sign-out`.
    /// - Returns: whether all steps could be done, whatever came of them.
    func run(_ steps: some Sequence<String>) async -> Bool {
        do {
            let authn = try launch()
            say("ready")
            for step in steps { await run(step, authn) }
            return true
        } catch {
            say("failed \(error)")
            return false
        }
    }

    private func launch() throws -> Authn {
        let key = try MasterKey(bytes: StoreScript.masterKey)
        let environment = AuthnEnvironment(
            keyStore: try EncryptedFileKeyStore(directory: directory + "/keys", masterKey: key),
            store: try EncryptedFileSecureStore(directory: directory + "/records", masterKey: key),
            // A busy machine must not look like a lost connection.
            transport: CurlTransport(
                caFile: caFile, connectTimeout: 600, readTimeout: 600, totalTimeout: 600),
            faceEngine: ScriptedFaceEngine(),
            onDiagnostic: { say("diagnostic \($0.step) \($0.outcome)") })
        let authn = try Authn(environment: environment)
        authn.setClientAssertionProvider(
            KeyStoreAssertions(
                keyStore: try EncryptedFileKeyStore(
                    directory: directory + "/client", masterKey: key),
                now: { environment.clock.now() }))
        return authn
    }

    private func run(_ step: String, _ authn: Authn) async {
        let words = step.split(separator: "=", maxSplits: 1).map { String($0) }
        switch words[0] {
        case "await":
            say("awaits")
            let pipe = open(words[1], O_RDONLY)
            var octet: UInt8 = 0
            _ = read(pipe, &octet, 1)
            close(pipe)
        case "call":
            say("calls")
            do {
                let answer = try await DPoPHTTP(authn).data(
                    for: HTTPRequest(method: "GET", url: words[1]))
                say("answer \(answer.status), \(state(authn))")
            } catch {
                say("no answer: \(error), \(state(authn))")
            }
        default:
            await authn.signOut()
            say("signed out")
        }
    }

    private func state(_ authn: Authn) -> String {
        authn.currentSession() == nil ? "no session" : "session"
    }
}
