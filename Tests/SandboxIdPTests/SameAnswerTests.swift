import HTTPClient
import JOSE
import Testing

@testable import SandboxIdP

/// Nobody learns from an answer who is enrolled (R-000-14, R-000-05): what differs between two answers is only what is random.
@Suite struct SameAnswerTests {
    /// Everything of an answer that could tell one user from another: status, every header line in its order, the members of the
    /// body in theirs, and each value, of those that are random the length alone.
    private func shape(_ reply: Reply) throws -> [String] {
        let headers = reply.headers.all.map { field in
            field.name.lowercased() == "date" ? field.name : "\(field.name): \(field.value)"
        }
        func flat(_ json: JSONValue, _ name: String) -> [String] {
            if let members = json.members {
                return members.flatMap { flat($0.value, name + "." + $0.name) }
            }
            let isRandom = name.hasSuffix("auth_session") || name.hasSuffix("sid")
            if isRandom, let text = json.string { return ["\(name): \(text.utf8.count) octets"] }
            return ["\(name): \(json.kind)"]
        }
        return ["\(reply.status)"] + headers + ["\(reply.body.count) octets"]
            + flat(try #require(reply.json), "")
    }

    private func named(_ device: Device, _ email: String) -> Device {
        var device = device
        device.email = email
        return device
    }

    @Test(arguments: ["nobody@example.com", "ada@example.co", "x@y"])
    func `a start gets the same answer whoever the hint names (R-000-14)`(email: String)
        async throws
    {
        try await Sandbox.run { sandbox in
            let (known, _) = try await sandbox.started()
            let stranger = named(known, email)
            let first = try shape(try await sandbox.send(sandbox.startAttempt(known)))
            #expect(first == (try shape(try await sandbox.send(sandbox.startAttempt(stranger)))))
            #expect(first[0] == "400")
        }
    }

    @Test func `the limit of starts answers the same whoever the hint names (R-000-73)`()
        async throws
    {
        try await Sandbox.run {
            $0.limits.startsPerEmail = RateQuota(count: 1, seconds: 3600)
        } _: { sandbox in
            let (known, _) = try await sandbox.started()
            let stranger = named(known, "nobody@example.com")
            _ = try await sandbox.start(stranger)
            let first = try await sandbox.send(sandbox.startAttempt(known))
            let second = try await sandbox.send(sandbox.startAttempt(stranger))
            #expect(first.status == 429)
            #expect(try shape(first) == (try shape(second)))
        }
    }

    /// Who signs a device request, other than the enrolled user of the hint.
    enum Signer: CaseIterable {
        case throwaway, anotherUser, unknownKey
    }

    @Test(arguments: Signer.allCases, ["face_token", "abort", "complete"])
    func `a ceremony answers a stranger the same whoever the hint names`(
        _ signer: Signer, action: String
    ) async throws {
        try await Sandbox.run { sandbox in
            let (known, session) = try await sandbox.started()
            let unknown = named(known, "nobody@example.com")
            let other = try Device(email: "grace@example.com")
            try await sandbox.enrol(other)
            let key = try PrivateKey.generate(.ES256)
            func sign(_ request: inout JWTParts) {
                let signing = signer == .anotherUser ? other.enrolled : key
                let keyId = signing.publicJWK.thumbprint
                request.signer = signing
                request.claims["iss"] = JWTParts.quoted(keyId)
                request.header["kid"] = signer == .throwaway ? nil : JWTParts.quoted(keyId)
                if signer == .throwaway {
                    request.header["jwk"] = signing.publicJWK.jsonText(asSigningKey: false)
                }
            }
            func reply(_ device: Device, _ session: Session) async throws -> Reply {
                guard action == "complete" else {
                    return try await sandbox.send(
                        sandbox.portalAttempt(device, action, sid: session.sid, sign))
                }
                var request = sandbox.completion(device, session)
                sign(&request)
                return try await sandbox.send(
                    sandbox.completeAttempt(device, session, response: try request.compact()))
            }
            let first = try await reply(known, session)
            let second = try await reply(unknown, try await sandbox.start(unknown))
            #expect(first.status == second.status)
            #expect(first.body == second.body)
            let lines = [first, second].map { reply in
                reply.headers.all.filter { $0.name.lowercased() != "date" }
            }
            #expect(lines[0] == lines[1])
            #expect(first.status != 200)
        }
    }
}
