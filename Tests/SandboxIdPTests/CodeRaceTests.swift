import JOSE
import Testing

@testable import SandboxIdP

/// Completions and exchanges that arrive at the same time, over the wire (R-000-24, R-000-25).
@Suite struct CodeRaceTests {
    /// Which of the tokens the API takes.
    private func live(
        _ sandbox: Sandbox, _ device: Device, _ replies: [Reply]
    ) async throws -> Int {
        var count = 0
        for reply in replies where reply.status == 200 {
            let token = try #require(reply.text("access_token"))
            let answer = try await sandbox.api(device, token)
            #expect(answer.status == 200 || answer.error == "invalid_token")
            if answer.status == 200 { count += 1 }
        }
        return count
    }

    @Test(arguments: 0..<12)
    func `a replacement raced with the exchange it replaces leaves one grant, the new code's`(
        round: Int
    ) async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let response = try sandbox.completion(device, session).compact()
            let code = try await sandbox.codes(1, device, session, response)[0]
            let exchange = sandbox.tokenAttempt(device, session, code: code)
            let again = try sandbox.completeAttempt(device, session, response: response)
            let replies = try await sandbox.sendAtOnce(
                round.isMultiple(of: 2) ? [exchange, again] : [again, exchange])
            let completion = try #require(
                replies.first { $0.text("authorization_code") != nil },
                "the re-sent completion was not served")
            let raced = try #require(replies.first { $0.text("authorization_code") == nil })
            #expect(raced.status == 200 || raced.error == "invalid_grant")
            let new = try #require(completion.text("authorization_code"))
            #expect(new != code)
            let exchanged = try await sandbox.send(
                sandbox.tokenAttempt(device, session, code: new))
            #expect(exchanged.status == 200)
            #expect(try await live(sandbox, device, [raced]) == 0)
            #expect(try await live(sandbox, device, [exchanged]) == 1)
        }
    }

    @Test func `the same completion 16 times at once: one code works and one grant lives`()
        async throws
    {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let response = try sandbox.completion(device, session).compact()
            let attempts = try (0..<16).map { _ in
                try sandbox.completeAttempt(device, session, response: response)
            }
            let codes = try await sandbox.sendAtOnce(attempts).map {
                try #require($0.text("authorization_code"))
            }
            #expect(Set(codes).count == 16)
            let exchanges = try await sandbox.sendAtOnce(
                codes.map { sandbox.tokenAttempt(device, session, code: $0) })
            #expect(exchanges.filter { $0.status == 200 }.count == 1)
            #expect(exchanges.filter { $0.error == "invalid_grant" }.count == 15)
            #expect(try await live(sandbox, device, exchanges) == 1)
        }
    }

    @Test func `16 different completions at once: one is taken`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let attempts = try (0..<16).map { _ in try sandbox.completeAttempt(device, session) }
            let replies = try await sandbox.sendAtOnce(attempts)
            #expect(replies.filter { $0.status == 200 }.count == 1)
            #expect(replies.filter { $0.error == "signature_rejected" }.count == 15)
        }
    }

    @Test func `re-sends at once after a spent code revoke its grant and count as one replacement`()
        async throws
    {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let response = try sandbox.completion(device, session).compact()
            let code = try await sandbox.codes(1, device, session, response)[0]
            let lost = try await sandbox.send(sandbox.tokenAttempt(device, session, code: code))
            let attempts = try (0..<8).map { _ in
                try sandbox.completeAttempt(device, session, response: response)
            }
            let replies = try await sandbox.sendAtOnce(attempts)
            #expect(replies.allSatisfy { $0.status == 200 })
            #expect(try await live(sandbox, device, [lost]) == 0)
            let codes = try replies.map { try #require($0.text("authorization_code")) }
            let exchanges = try await sandbox.sendAtOnce(
                codes.map { sandbox.tokenAttempt(device, session, code: $0) })
            #expect(exchanges.filter { $0.status == 200 }.count == 1)
            #expect(try await live(sandbox, device, exchanges) == 1)
            // Seven of the codes were never used, so two replacements are left.
            for _ in 0..<2 {
                let next = try await sandbox.codes(1, device, session, response)[0]
                let reply = try await sandbox.send(
                    sandbox.tokenAttempt(device, session, code: next))
                #expect(reply.status == 200)
            }
            let spent = try await sandbox.send(
                sandbox.completeAttempt(device, session, response: response))
            #expect(spent.error == "invalid_session")
        }
    }

    @Test(arguments: 0..<8)
    func `a refresh raced with the replacement of its sign-in leaves no tokens of the old grant`(
        round: Int
    ) async throws {
        try await Sandbox.run {
            $0.options.rotatesRefreshTokens = round.isMultiple(of: 2)
        } _: { sandbox in
            let (device, session) = try await sandbox.started()
            let response = try sandbox.completion(device, session).compact()
            let code = try await sandbox.codes(1, device, session, response)[0]
            let tokens = try sandbox.tokens(
                try await sandbox.send(sandbox.tokenAttempt(device, session, code: code)))
            let replies = try await sandbox.sendAtOnce([
                sandbox.refreshAttempt(device, session, token: try #require(tokens.refresh)),
                try sandbox.completeAttempt(device, session, response: response),
            ])
            #expect(replies[1].status == 200)
            #expect(try await live(sandbox, device, [replies[0]]) == 0)
            #expect(try await sandbox.api(device, tokens.access).error == "invalid_token")
        }
    }
}
