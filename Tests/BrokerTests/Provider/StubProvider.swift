import HTTPClient
import JOSE
import Synchronization

@testable import Broker

/// A provider that answers with what a test says and keeps what it was asked.
final class StubProvider: Sendable {
    private let answers: @Sendable (ProviderRequest) -> HTTPOutcome
    private let log = Mutex<[ProviderRequest]>([])

    init(_ answers: @escaping @Sendable (ProviderRequest) -> HTTPOutcome) {
        self.answers = answers
    }

    var requests: [ProviderRequest] { log.withLock { $0 } }

    var fetch: ProviderFetcher {
        { request in
            self.log.withLock { $0.append(request) }
            return self.answers(request)
        }
    }

    static func answer(
        _ status: Int, _ body: String, _ headers: (String, String)..., isOversized: Bool = false
    ) -> HTTPOutcome {
        var fields = HTTPFields()
        for (name, value) in headers { fields.append(name, value) }
        return .answer(
            HTTPAnswer(
                status: status, headers: fields, body: Array(body.utf8), isOversized: isOversized))
    }
}

extension ProviderRequest {
    /// The members of the form, decoded.
    var form: [String: String] {
        let pairs = String(decoding: body ?? [], as: UTF8.self).split(separator: "&").map {
            $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        }
        return Dictionary(
            pairs.map { (String($0[0]), Self.decoded($0.count > 1 ? $0[1] : "")) }
        ) { _, last in last }
    }

    private static func decoded(_ text: Substring) -> String {
        var octets: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            octets.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
