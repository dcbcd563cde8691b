import JOSE

/// Follows each sign-in by what it says and hears on the wire, and knows how often it may still send what.
///
/// Sendable: touched on the run's thread only.
final class SignInWatch: @unchecked Sendable {
    private unowned let world: World
    private(set) var tracks: [Track] = []

    /// One session at the provider, or the attempt to open one.
    struct Track {
        let process: AppProcess
        let challenge: String
        /// What `retry()` must repeat byte for byte (R-000-22).
        var proof: String?
        var sid: String?
        /// The newest that reached the app (R-000-12).
        var authSession: String?
        /// Milliseconds since 1970.
        var endsAt: Int64?
        /// How often each message may go out now.
        var allowed: [Exchange: Int] = [.start: 1, .faceToken: 1, .completion: 1]
        /// Whether a loss of it has been made good.
        var hasLost: Set<Exchange> = []
        var completionsAfterToken = 0
        var isOver = false
        /// Whether a code is to be redeemed that is not on its way yet.
        var hasCode = false
        /// What was answered with a nonce, and is due again for that alone.
        var repeats: Set<Exchange> = []
        /// What the last busy answer told to wait, seconds.
        var retryAfter: Int?
    }

    /// Which track a handle belongs to: challenge, `sid`, `auth_session` or code.
    private var owners: [String: Int] = [:]

    init(world: World) { self.world = world }

    // MARK: - The wire

    func sent(
        _ request: WireRequest, _ exchange: Exchange, _ form: [String: String],
        by process: AppProcess
    ) {
        guard let index = owner(request, exchange, form, by: process) else {
            if Self.steps.contains(exchange) {
                world.ledger.violate(
                    "a sign-in sends a handle that nobody gave it", exchange.rawValue)
            }
            return
        }
        guard Self.steps.contains(exchange) else { return }
        let track = tracks[index]
        if track.isOver {
            world.ledger.violate("a sign-in goes on after a refusal", exchange.rawValue)
        }
        if tracks[index].repeats.remove(exchange) == nil {
            checkTime(track, exchange, form, process)
        }
        if exchange == .completion {
            if form["auth_session"] != track.authSession {
                world.ledger.violate("an auth_session is sent that was replaced")
            }
            if let proof = track.proof, proof != form["ceremony_response"] {
                world.ledger.violate("a completion is not the one that was made first")
            }
            tracks[index].proof = form["ceremony_response"]
        }
        guard exchange != .token else {
            tracks[index].hasCode = false
            return
        }
        tracks[index].allowed[exchange, default: 0] -= 1
        if tracks[index].allowed[exchange, default: 0] < 0 {
            world.ledger.violate(
                "a sign-in sends a message more often than it may", exchange.rawValue)
        }
    }

    private static let steps: Set<Exchange> = [.start, .faceToken, .completion, .token]

    private func owner(
        _ request: WireRequest, _ exchange: Exchange, _ form: [String: String],
        by process: AppProcess
    ) -> Int? {
        switch exchange {
        case .start:
            guard let challenge = form["code_challenge"] else { return nil }
            if let known = owners[challenge] { return known }
            tracks.append(Track(process: process, challenge: challenge))
            owners[challenge] = tracks.count - 1
            return tracks.count - 1
        case .faceToken, .abort:
            return request.path.split(separator: "/").dropLast().last.flatMap { owners[String($0)] }
        case .completion: return form["auth_session"].flatMap { owners[$0] }
        case .token: return form["code"].flatMap { owners[$0] }
        default: return nil
        }
    }

    /// Nothing that was begun after the session's end, or after the app was told the end, may go out.
    private func checkTime(
        _ track: Track, _ exchange: Exchange, _ form: [String: String], _ process: AppProcess
    ) {
        let begun =
            form["client_assertion"].flatMap { process.asked[$0] } ?? world.timeline.milliseconds
        if let end = track.endsAt, begun > end + 2_000, !process.wasSuspended {
            world.ledger.violate("a sign-in goes on after its session's end", exchange.rawValue)
        }
        let flows = world.ledger.flows.filter { $0.process === process }
        guard let last = flows.compactMap(\.endedAt).max(), flows.allSatisfy({ $0.endedAt != nil }),
            // The first call may wait for the metadata and not look again.
            begun > last + (exchange == .start ? 1_000 : 0), !process.wasSuspended,
            world.ledger.discovered[process.id, default: 0] <= last
        else { return }
        world.ledger.violate("a sign-in goes on after its end", exchange.rawValue)
    }

    func arrived(
        _ outcome: WireOutcome, _ request: WireRequest, _ exchange: Exchange,
        _ form: [String: String],
        at process: AppProcess
    ) {
        guard Self.steps.contains(exchange),
            let index = owner(request, exchange, form, by: process)
        else { return }
        guard case .answer(let answer) = outcome else { return lost(exchange, index) }
        let json = try? JSONValue(parsing: answer.body)
        if let handle = json?["auth_session"]?.string {
            owners[handle] = index
            tracks[index].authSession = handle
        }
        let error = json?["error"]?.string
        switch (answer.status, error) {
        case (400, "use_dpop_nonce"):
            tracks[index].repeats.insert(exchange)
            tracks[index].allowed[exchange, default: 0] += 1
        case (400, "insufficient_authorization"): opened(json, index)
        case (429, _), (500..., _):
            tracks[index].retryAfter = answer.headers.first { $0.name == "Retry-After" }
                .flatMap { Int($0.value) }
            switch exchange {
            case .completion: break
            case .token: recover(index)
            default: tracks[index].isOver = true
            }
        case (200, _) where json?["authorization_code"]?.string != nil && exchange == .completion:
            if let code = json?["authorization_code"]?.string { owners[code] = index }
            tracks[index].hasCode = true
        case (200, _) where exchange == .faceToken && json != nil: break
        default: tracks[index].isOver = true
        }
    }

    private func opened(_ json: JSONValue?, _ index: Int) {
        guard let sid = json?["ceremony"]?["sid"]?.string,
            let lifetime = json?["ceremony"]?["expires_in"]?.integer
        else { return }
        owners[sid] = index
        tracks[index].sid = sid
        tracks[index].endsAt = world.timeline.milliseconds + lifetime * 1000
    }

    private func lost(_ exchange: Exchange, _ index: Int) {
        if exchange == .token { return recover(index) }
        // Each is sent once more by itself (R-000-20 to R-000-22).
        if tracks[index].hasLost.insert(exchange).inserted {
            tracks[index].allowed[exchange, default: 0] += 1
        }
    }

    /// R-000-24: twice a sign-in.
    private func recover(_ index: Int) {
        guard tracks[index].completionsAfterToken < 2 else { return }
        tracks[index].completionsAfterToken += 1
        tracks[index].allowed[.completion, default: 0] += 1
        tracks[index].hasLost.remove(.completion)
    }

    /// The process lacked an assertion, or the metadata: a lost call that the wire does not show (R-101-05). Only at the token
    /// call does that bring another message.
    func missed(_ process: AppProcess) {
        process.isHampered = true
        for index in tracks.indices where tracks[index].process === process && tracks[index].hasCode
        {
            tracks[index].hasCode = false
            recover(index)
        }
    }

    // MARK: - The user

    /// The user asks to send the proof again: one message, and one more should it be lost (R-000-23).
    func retried(_ process: AppProcess) {
        for index in tracks.indices where tracks[index].process === process {
            tracks[index].allowed[.completion] = max(
                1, tracks[index].allowed[.completion, default: 0])
            tracks[index].hasLost.remove(.completion)
        }
    }

    /// Whether some sign-in of that process ends at this moment.
    func endsNow(_ process: AppProcess) -> Bool {
        tracks.contains { track in
            track.process === process
                && track.endsAt.map { abs($0 - world.timeline.milliseconds) <= 2_000 } ?? false
        }
    }

    /// Whether some sign-in of that process was told to wait that long.
    func wasToldToWait(_ seconds: Int?, _ process: AppProcess) -> Bool {
        tracks.contains { $0.process === process && $0.retryAfter == seconds }
    }
}
