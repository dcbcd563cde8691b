/// What becomes of the phone's messages, as the person at the demo wants it.
struct NetworkConditions: Equatable, Sendable {
    private(set) var isCut = false
    private(set) var delayMilliseconds = 0
    private var lostRequests = Losses()
    private var lostAnswers = Losses()

    private struct Losses: Equatable, Sendable {
        var left = 0
        /// Whose messages; `nil` for anybody's.
        var peer: Peer?

        mutating func takeOne(to peer: Peer) -> Bool {
            guard left > 0, self.peer == nil || self.peer == peer else { return false }
            left -= 1
            return true
        }

        func text(_ what: String) -> String? {
            guard left > 0 else { return nil }
            let whose = peer.map { " (\($0.rawValue))" } ?? ""
            return left == 1
                ? "the next \(what)\(whose) is lost" : "the next \(left) \(what)s\(whose) are lost"
        }
    }

    /// What happens to one message.
    enum Fate: Equatable, Sendable {
        case passes
        /// Never leaves the phone.
        case cut
        /// Leaves, and does not arrive.
        case requestLost
        /// Arrives, and its answer does not.
        case answerLost
    }

    mutating func cut() { isCut = true }
    mutating func mend() { self = NetworkConditions() }
    mutating func slow(milliseconds: Int) { delayMilliseconds = milliseconds }
    mutating func loseRequests(_ count: Int, of peer: Peer?) {
        lostRequests = Losses(left: count, peer: peer)
    }
    mutating func loseAnswers(_ count: Int, of peer: Peer?) {
        lostAnswers = Losses(left: count, peer: peer)
    }

    mutating func fate(ofMessageTo peer: Peer) -> Fate {
        if isCut { return .cut }
        if lostRequests.takeOne(to: peer) { return .requestLost }
        return lostAnswers.takeOne(to: peer) ? .answerLost : .passes
    }

    var text: String {
        var parts = [String]()
        if isCut { parts.append("cut") }
        parts += [lostRequests.text("message"), lostAnswers.text("answer")].compactMap(\.self)
        if delayMilliseconds > 0 { parts.append("slow, \(delayMilliseconds) ms a message") }
        return parts.isEmpty ? "whole" : parts.joined(separator: "; ")
    }
}
