import Foundation
import TestKit
import Testing

@testable import ClientShim

@Suite struct SignInDiagramTests {
    /// Every state the app can see, by name, from a value of each case.
    private var stateNames: Set<String> {
        let capture = FaceCaptureRequest(
            attemptsUsed: 0, attemptsMax: 3, lastError: nil, expiresAtUnix: 0, branding: nil)
        let states: [SignInState] = [
            .starting, .downloadingFaceToken, .awaitingFaceCapture(capture), .verifyingFace,
            .runningPki(kind: .sign), .postingResult,
            .postingResultFailed(reason: .noAnswer, retryAfter: nil), .redeemingCode, .cancelled,
            .failed(reason: .network),
        ]
        // `signedIn` needs a session; its name is checked against the switch below.
        return Set(states.map { Self.name($0) } + ["signedIn"])
    }

    /// No `default`: a new case does not compile until the diagram's test knows it.
    private static func name(_ state: SignInState) -> String {
        switch state {
        case .starting: "starting"
        case .downloadingFaceToken: "downloadingFaceToken"
        case .awaitingFaceCapture: "awaitingFaceCapture"
        case .verifyingFace: "verifyingFace"
        case .runningPki: "runningPki"
        case .postingResult: "postingResult"
        case .postingResultFailed: "postingResultFailed"
        case .redeemingCode: "redeemingCode"
        case .signedIn: "signedIn"
        case .cancelled: "cancelled"
        case .failed: "failed"
        }
    }

    @Test func `the diagram names exactly the states of the code`() throws {
        let path = Fixtures.path("../docs/flows/sign-in.md")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let block = try #require(text.split(separator: "```mermaid").dropFirst().first)
        var drawn: Set<String> = []
        for line in block.split(separator: "\n").prefix(while: { $0 != "```" }) {
            let sides = line.split(separator: ":", maxSplits: 1)[0].components(separatedBy: "-->")
            guard sides.count == 2 else { continue }
            drawn.formUnion(sides.map { $0.trimmingCharacters(in: .whitespaces) })
        }
        drawn.remove("[*]")
        #expect(drawn == stateNames)
    }
}
