import CurlTrust
import TestKit

@testable import ClientShim

/// The transports that reach a real network; whatever one does, the other does too.
enum Wire: String, CaseIterable, Sendable {
    case curl
    case urlSession

    /// Trusts the test's authority. Waits long unless told otherwise: a busy machine must not look like a lost connection.
    func transport(readTimeout: Int = 600, totalTimeout: Int = 600) async throws
        -> any HTTPTransport
    {
        let caFile = try await Self.authority.value.caFile
        switch self {
        case .curl:
            return CurlTransport(
                caFile: caFile, connectTimeout: 600, readTimeout: readTimeout,
                totalTimeout: totalTimeout)
        case .urlSession:
            return URLSessionTransport(readTimeout: readTimeout, totalTimeout: totalTimeout)
        }
    }

    /// One authority for the whole test process: `URLSession` knows no other way.
    static let authority = Task {
        let authority = try await TestAuthority()
        curl_trust_file(authority.caFile)
        return authority
    }

    /// A certificate for 127.0.0.1 by that authority.
    static let certificate = Task {
        try await authority.value.certificate(file: "loopback")
    }
}
