import AssertionMint
import JOSE

/// The report for machines: one object.
extension Diagnosis {
    /// - Parameter now: microseconds since 1970 UTC.
    func json(now: Int64) -> String {
        var json = JSONWriter(capacity: 8192)
        json.object {
            $0.member("checked_at", Timestamp.rfc3339(microseconds: now))
            $0.member("result", result.rawValue)
            $0.name("counts")
            $0.object { json in
                for level in FindingLevel.allCases { json.member(level.rawValue, count(level)) }
            }
            $0.name("findings")
            $0.array { json in findings.forEach { $0.write(to: &json) } }
            $0.name("not_checked")
            $0.array { json in notChecked.forEach { json.string($0) } }
            $0.name("dry_mints")
            $0.array { json in dryMints.forEach { $0.write(to: &json) } }
        }
        return json.text
    }
}

extension Finding {
    fileprivate func write(to json: inout JSONWriter) {
        json.object {
            $0.member("level", level.rawValue)
            $0.member("code", code.rawValue)
            subject.writeMembers(to: &$0)
            $0.member("detail", detail)
            if !code.advice.isEmpty { $0.member("advice", code.advice) }
        }
    }
}

extension FindingSubject {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        switch self {
        case .database: break
        case .role(let name): json.member("role", name)
        case .tenant(let id): json.member("tenant", id.rawValue)
        case .client(let id): json.member("client_id", id.rawValue)
        case .provider(let issuer): json.member("issuer", issuer.rawValue)
        case .registration(let id, let issuer):
            json.member("client_id", id.rawValue)
            json.member("issuer", issuer.rawValue)
        }
    }
}

extension DryMint {
    fileprivate func write(to json: inout JSONWriter) {
        json.object {
            $0.member("client_id", clientId.rawValue)
            $0.member("issuer", audience.rawValue)
            for (name, text) in [("header", header), ("claims", claims)] {
                guard let value = try? JSONValue(parsing: Array(text.utf8)) else { continue }
                $0.name(name)
                $0.value(value)
            }
        }
    }
}
