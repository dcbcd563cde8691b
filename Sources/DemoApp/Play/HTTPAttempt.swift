import ClientShim
import JOSE

/// One message and what became of it, as it is shown. Holds nothing secret.
struct HTTPAttempt: Equatable, Sendable {
    /// Something made for a message: whether it was made for this one.
    enum Freshness: Equatable, Sendable {
        case none
        case fresh
        case reused
    }

    enum Result: Equatable, Sendable {
        case answered(Int, code: String?)
        case cut
        case requestLost
        case answerLost(Int)
        case noAnswer(String)
    }

    let method: String
    /// Host, port and path; a part of the path that only the session's owner knows is left out.
    let place: String
    /// 1 for the first time this message goes out.
    let number: Int
    let assertion: Freshness
    let proof: Freshness
    /// The statement of the face match.
    let statement: Freshness
    var result = Result.cut
    var milliseconds: Int64 = 0

    var text: String {
        let what = "\(method) \(place): \(resultText) after \(milliseconds) ms, try \(number)"
        let made = [
            Self.text(assertion, "assertion"), Self.text(proof, "DPoP proof"),
            Self.text(statement, "proof of the match"),
        ].compactMap(\.self)
        return made.isEmpty ? what : what + "; " + made.joined(separator: ", ")
    }

    private var resultText: String {
        switch result {
        case .answered(let status, let code): "\(status)" + (code.map { " \($0)" } ?? "")
        case .cut: "not sent, the network is cut"
        case .requestLost: "lost on its way"
        case .answerLost(let status): "answered \(status), the answer was lost"
        case .noAnswer(let reason): "no answer (\(reason))"
        }
    }

    private static func text(_ freshness: Freshness, _ what: String) -> String? {
        switch freshness {
        case .none: nil
        case .fresh: "new \(what)"
        case .reused: "the same \(what)"
        }
    }
}

/// Numbers the attempts of each message, and knows which assertions and proofs it has seen, by their digest.
struct AttemptHistory: Sendable {
    private var tries: [String: Int] = [:]
    private var seen: Set<[UInt8]> = []

    /// What the person asks for next begins with first tries.
    mutating func startOver() { tries = [:] }

    mutating func begin(_ request: HTTPRequest) -> HTTPAttempt {
        let place = Redaction.place(request.url)
        let number = (tries["\(request.method) \(place)"] ?? 0) + 1
        let form = Self.form(request)
        return HTTPAttempt(
            method: request.method, place: place, number: number,
            assertion: freshness(form["client_assertion"]),
            proof: freshness(
                request.headers.first { $0.name.lowercased() == "dpop" }.map { Substring($0.value) }
            ),
            statement: freshness(form["ceremony_response"]))
    }

    /// Notes whether the message will go out again: it does when nothing, or nothing final, came back.
    mutating func end(_ attempt: HTTPAttempt) {
        let isFinal =
            switch attempt.result {
            case .answered(let status, let code):
                status < 500 && status != 429 && code != "use_dpop_nonce"
            default: false
            }
        tries["\(attempt.method) \(attempt.place)"] = isFinal ? nil : attempt.number
    }

    private mutating func freshness(_ text: Substring?) -> HTTPAttempt.Freshness {
        guard let text else { return .none }
        return seen.insert(SHA256.hash(Array(text.utf8))).inserted ? .fresh : .reused
    }

    private static func form(_ request: HTTPRequest) -> [Substring: Substring] {
        guard case .bytes(let bytes) = request.body,
            request.headers.contains(where: { $0.value == "application/x-www-form-urlencoded" })
        else { return [:] }
        var members: [Substring: Substring] = [:]
        for pair in String(decoding: bytes, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { members[parts[0]] = parts[1] }
        }
        return members
    }
}

/// What of a name or an address may be shown.
enum Redaction {
    /// Host, port and path of a URL.
    static func place(_ url: String) -> String {
        let afterScheme = url.split(separator: "://", maxSplits: 1).last.map(String.init) ?? url
        return name(String(afterScheme.prefix { $0 != "?" && $0 != "#" }))
    }

    /// A name without its random parts: long runs that are no words keep their first four characters.
    static func name(_ text: String) -> String {
        text.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.split(separator: ".", omittingEmptySubsequences: false).map { part in
                let isWord = part.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x2d }
                return isWord || part.utf8.count <= 16 ? String(part) : part.prefix(4) + "…"
            }.joined(separator: ".")
        }.joined(separator: "/")
    }

    /// An error code of an answer, when it reads as one.
    static func code(_ answer: HTTPAnswer) -> String? {
        guard let json = try? JSONValue(parsing: answer.body),
            let code = json["error"]?.string ?? json["code"]?.string
        else { return nil }
        let isPlain = code.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x5f }
        return isPlain && code.utf8.count <= 40 ? code : nil
    }
}
