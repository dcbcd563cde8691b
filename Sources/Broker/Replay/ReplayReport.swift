import AssertionMint
import JOSE

/// What a replay found, for people and for scripts.
struct ReplayReport: Sendable {
    /// Installs that are told one by one.
    static let mostInstalls = 10

    let replay: Replay
    let policy: ReplayPolicy

    /// The installs most affected, the first the most.
    private var installs: [(key: InstallKey, change: ReplayChanges.Install)] {
        let all = replay.changes.installs.map { (key: $0.key, change: $0.value, jkt: $0.key.jkt) }
        return all.sorted {
            ($1.change.weight, $0.change.first, $0.jkt)
                < ($0.change.weight, $1.change.first, $1.jkt)
        }.prefix(Self.mostInstalls).map { ($0.key, $0.change) }
    }

    /// Results, a line each.
    var text: [String] {
        let changes = replay.changes
        guard let first = changes.first, let last = changes.last else {
            return ["no mint to replay"]
        }
        var lines = [
            "\(changes.mints) mints from \(Timestamp.rfc3339(microseconds: first)) to "
                + Timestamp.rfc3339(microseconds: last)
        ]
        for scope in LimitScope.allCases {
            let policy = changes.policies[scope] ?? ReplayChanges.Policy()
            lines.append(
                "\(scope.rawValue): \(policy.then) refused then, \(policy.now) under these limits; "
                    + "\(policy.more) more\(Self.since(policy.firstMore)), "
                    + "\(policy.fewer) fewer\(Self.since(policy.firstFewer))")
        }
        for (key, install) in installs {
            lines.append(
                "install \(key.jkt) of \(policy.clients[Int(key.client)].id): \(install.more) more, "
                    + "\(install.fewer) fewer\(Self.since(install.first))")
        }
        return lines
    }

    /// What the results leave out, a line each.
    var notes: [String] {
        let lines = replay.lines
        var notes: [String] = []
        if lines.other > 0 { notes.append("\(lines.other) lines are of other events") }
        if lines.unnamed > 0 {
            notes.append(
                "\(lines.unnamed) mints are of clients that the policy does not name: "
                    + lines.unnamedClients.sorted().map(\.rawValue).joined(separator: ", "))
        }
        if replay.late > 0 {
            notes.append(
                "\(replay.late) mints came too late to be put in order and are left out: give each "
                    + "replica's log as a file of its own")
        }
        if replay.changes.isPartial {
            notes.append("very many installs are affected: their counts are lower bounds")
        }
        if lines.corrupt > 0 {
            notes.append("\(lines.corrupt) lines are not the broker's and are left out:")
            notes += lines.faults.map { "\($0.file):\($0.line): \($0.reason)" }
            if lines.corrupt > lines.faults.count {
                notes.append("and \(lines.corrupt - lines.faults.count) more")
            }
        }
        return notes
    }

    /// Everything as one JSON object; times are RFC 3339.
    var json: String {
        var json = JSONWriter(capacity: 4096)
        json.object {
            $0.member("lines", replay.lines.total)
            $0.member("mints", replay.changes.mints)
            Self.moment("first", replay.changes.first, &$0)
            Self.moment("last", replay.changes.last, &$0)
            $0.name("policies")
            $0.object { json in
                for scope in LimitScope.allCases {
                    json.name(scope.rawValue)
                    Self.write(replay.changes.policies[scope] ?? .init(), &json)
                }
            }
            $0.name("installs")
            $0.array { json in
                for (key, install) in installs { write(key, install, &json) }
            }
            $0.member("installs_partial", replay.changes.isPartial)
            $0.name("left_out")
            $0.object { writeLeftOut(&$0) }
        }
        return json.text
    }

    private static func write(_ policy: ReplayChanges.Policy, _ json: inout JSONWriter) {
        json.object {
            $0.member("refused_then", policy.then)
            $0.member("refused_now", policy.now)
            $0.member("more", policy.more)
            moment("first_more", policy.firstMore, &$0)
            $0.member("fewer", policy.fewer)
            moment("first_fewer", policy.firstFewer, &$0)
        }
    }

    private func write(
        _ key: InstallKey, _ install: ReplayChanges.Install, _ json: inout JSONWriter
    ) {
        json.object {
            $0.member("client_id", policy.clients[Int(key.client)].id.rawValue)
            $0.member("jkt", key.jkt)
            $0.member("more", install.more)
            $0.member("fewer", install.fewer)
            Self.moment("first", install.first, &$0)
        }
    }

    private func writeLeftOut(_ json: inout JSONWriter) {
        let lines = replay.lines
        json.member("other_events", lines.other)
        json.member("unnamed_clients", lines.unnamed)
        json.member("too_late", replay.late)
        json.member("corrupt", lines.corrupt)
        json.name("corrupt_lines")
        json.array { json in
            for fault in lines.faults {
                json.object {
                    $0.member("file", fault.file)
                    $0.member("line", fault.line)
                    $0.member("reason", fault.reason)
                }
            }
        }
    }

    private static func moment(_ name: String, _ moment: Int64?, _ json: inout JSONWriter) {
        guard let moment else { return }
        json.member(name, Timestamp.rfc3339(microseconds: moment))
    }

    private static func since(_ moment: Int64?) -> String {
        moment.map { " (first at \(Timestamp.rfc3339(microseconds: $0)))" } ?? ""
    }
}
