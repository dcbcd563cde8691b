import JOSE

@testable import ClientShim

/// What must hold when all is quiet: after each of the user's actions, and at the end.
extension Ledger {
    func settle() {
        if world.timeline.hasStrays { violate("something ran outside the run") }
        for flow in flows where !flow.process.isDead && !flow.isOver {
            violate("a sign-in hangs", "\(flow.states.last.map { "\($0)" } ?? "before its start")")
        }
        for call in calls.values where !call.process.isDead {
            _ = call
            violate("a call hangs")
        }
        calls = [:]
        lookAtPhone()
        if let most = world.provider.liveGrants.max(), most > 1 {
            violate("a sign-in has two live grants")
        }
        let opened = flows.count { $0.states.contains(.downloadingFaceToken) }
        if flowSecrets.count < opened || Set(flowSecrets.joined()).count < 2 * flowSecrets.count {
            violate("two sign-ins share a challenge or a nonce")
        }
        let minted = world.broker.minted
        if Set(minted).count != minted.count { violate("a jti is minted twice") }
        if !world.broker.recorded.isSuperset(of: minted) {
            violate("an assertion left whose jti is not recorded")
        }
        lookForSecrets()
        if world.isCalm { settleCalm() }
    }

    /// What the app and its user see when all is quiet.
    private func lookAtPhone() {
        for flow in flows where !flow.process.isDead && flow.isOver {
            if !flow.frames.allSatisfy({ $0.withBytes { $0.isEmpty } }) {
                violate("a picture of the face is kept")
            }
            if case .done? = flow.lastCapture { continue }
            violate("a capture surface is not told the end")
        }
        for process in issued.values where !process.isDead && !process.isHampered {
            violate("tokens are dropped that nobody took back", "process \(process.id)")
        }
        let session = world.device.session
        for process in world.processes where !process.isDead {
            let seen = flows.filter { $0.process === process }
                .reduce(0) { $0 + $1.states.count { $0 == .verifyingFace } }
            if process.face?.matcherCalls ?? 0 > seen { violate("a frame too many is looked at") }
            guard process === lastWriter, failedSessionWrites == 0, !world.device.hasLostKey else {
                continue
            }
            let now = (world.timeline.milliseconds + world.device.clockOffset) / 1000
            let expected = session.flatMap { $0.isOver(at: now) ? nil : $0 }
            let shown = process.authn?.currentSession()
            if (shown == nil) != (expected == nil)
                || shown?.accessTokenExpiresAt != expected?.expiresAt
            {
                violate("the app is shown another session than the one on disk")
            }
        }
        if action == .loseKeys, let session,
            (try? world.device.keys.list())?.contains(where: { label in
                (try? world.device.keys.publicJWK(label: label))?.thumbprint == session.dpopJkt
            }) == false, failedSessionWrites == 0, world.faults.injected.isEmpty
        {
            violate("a session of a lost key stays")
        }
        if world.faults.injected.values.allSatisfy({ $0 == .slow || $0 == .failedWrite }),
            world.provider.liveGrants.reduce(0, +) > (session == nil ? 0 : 1),
            !world.device.hasLostKey
        {
            violate("a grant is alive that no device holds, though nothing was lost")
        }
    }

    /// What holds besides when nothing went wrong: nothing is left behind anywhere.
    private func settleCalm() {
        let live = world.provider.liveGrants.reduce(0, +)
        // A session whose key is gone ends at the device alone.
        if !world.device.hasLostKey, live != (world.device.session == nil ? 0 : 1) {
            violate("a grant is alive that no device holds", "\(live) alive")
        }
        if world.device.records[RefreshJournal.recordName] != nil {
            violate("a journal is left behind")
        }
        // A session that was over by itself is not taken back; within the last second it depends on how clocks are rounded.
        let abandoned = flows.count { flow in
            guard case .failed(let reason) = flow.states.last else { return false }
            return reason == .expired || flow.duration ?? 0 > 299_000
        }
        if world.provider.openSessions > abandoned {
            violate("a session at the provider is left open")
        }
    }

    private func lookForSecrets() {
        for line in lines {
            for word in line.utf8.split(whereSeparator: { !Self.isTokenByte($0) })
            where word.count >= 16 && secrets.contains(String(Substring(word))) {
                violate("a secret is in a log", line)
            }
        }
        lines = []
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: true
        default: false
        }
    }
}
