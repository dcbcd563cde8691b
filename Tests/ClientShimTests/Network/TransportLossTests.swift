import Synchronization
import TestKit
import Testing

@testable import ClientShim

/// How both transports lose a request (R-100-20), and how they send a body that is read once.
@Suite struct TransportLossTests {
    /// A peer behind something that cuts its connections.
    private func cuttable(
        _ answer: @escaping @Sendable (TLSPeer.Seen) async -> TLSPeer.Answer?
    ) async throws -> (TLSPeer, TCPCutter, url: String) {
        let peer = try TLSPeer(try await Wire.certificate.value, answer: answer)
        let cutter = try TCPCutter(to: peer.port)
        return (peer, cutter, "https://127.0.0.1:\(cutter.port)")
    }

    @Test(arguments: Wire.allCases)
    func `R-100-20 a connection cut before the answer is lost, and the request is not sent again`(
        _ wire: Wire
    ) async throws {
        let (peer, cutter, url) = try await cuttable { $0.path == "/1" ? TLSPeer.Answer() : nil }
        let transport = try await wire.transport()
        // One that is answered first: a connection that was kept breaks differently from a new one.
        _ = await transport.send(HTTPRequest(method: "GET", url: url + "/1"))
        async let outcome = transport.send(
            HTTPRequest(method: "POST", url: url + "/2", body: .bytes([1])))
        await peer.requests.wait { $0.path == "/2" }
        cutter.cut()
        #expect(await outcome == .lost(.broken))
        #expect(peer.requests.all.count == 2)
        cutter.stop()
        await peer.stop()
    }

    @Test(arguments: Wire.allCases)
    func `R-100-20 an answer that is cut midway is lost`(_ wire: Wire) async throws {
        let cutters = Mutex<TCPCutter?>(nil)
        let (peer, cutter, url) = try await cuttable { _ in
            cutters.withLock { $0 }?.cut(afterOctets: 100_000)
            return TLSPeer.Answer(body: [UInt8](repeating: 1, count: 900_000))
        }
        cutters.withLock { $0 = cutter }
        let outcome = try await wire.transport().send(HTTPRequest(method: "GET", url: url))
        #expect(outcome == .lost(.broken))
        cutter.stop()
        await peer.stop()
    }

    @Test(arguments: Wire.allCases)
    func `a server that is not there is a loss`(_ wire: Wire) async throws {
        let (peer, cutter, url) = try await cuttable { _ in TLSPeer.Answer() }
        let transport = try await wire.transport()
        cutter.isRefusing = true
        let refused = await transport.send(HTTPRequest(method: "GET", url: url))
        #expect(refused.isLoss)
        cutter.isRefusing = false
        guard case .answer = await transport.send(HTTPRequest(method: "GET", url: url)) else {
            Issue.record("no answer after it came back")
            return
        }
        #expect(peer.requests.all.count == 1)
        await peer.stop()
        let gone = await transport.send(HTTPRequest(method: "GET", url: peer.url))
        // corelibs Foundation says the same of a request that may have left.
        #expect(gone == (wire == .curl ? .unsent(.unreachable) : .lost(.unreachable)))
    }

    @Test(arguments: Wire.allCases, [(1, 60), (60, 1)])
    func `R-100-23 a server that does not answer is given up by either limit`(
        _ wire: Wire, _ limits: (read: Int, total: Int)
    ) async throws {
        let (peer, cutter, url) = try await cuttable { _ in nil }
        let transport = try await wire.transport(
            readTimeout: limits.read, totalTimeout: limits.total)
        let outcome = await transport.send(HTTPRequest(method: "GET", url: url))
        #expect(outcome == .lost(.timedOut))
        cutter.stop()
        await peer.stop()
    }

    @Test(arguments: Wire.allCases)
    func `a cancelled task gets its outcome while the server still thinks`(
        _ wire: Wire
    ) async throws {
        let (peer, cutter, url) = try await cuttable { $0.path == "/1" ? nil : TLSPeer.Answer() }
        let transport = try await wire.transport()
        let task = Task { await transport.send(HTTPRequest(method: "GET", url: url + "/1")) }
        await peer.requests.wait()
        task.cancel()
        #expect(await task.value == .lost(.cancelled))
        let after = await transport.send(HTTPRequest(method: "GET", url: url + "/2"))
        #expect(!after.isLoss)
        cutter.stop()
        await peer.stop()
    }

    @Test(arguments: Wire.allCases, ["untrusted", "DNS:api.example", "IP:127.0.0.2"])
    func `no request reaches a server whose certificate is another's or another authority's`(
        _ wire: Wire, _ name: String
    ) async throws {
        let certificate =
            if name == "untrusted" {
                try await TestAuthority().certificate(file: "a")
            } else {
                try await Wire.authority.value.certificate(
                    name, file: "\(wire)-\(name.dropFirst(4))")
            }
        let peer = try TLSPeer(certificate)
        let outcome = try await wire.transport().send(HTTPRequest(method: "GET", url: peer.url))
        #expect(outcome.isLoss)
        if wire == .curl { #expect(outcome == .unsent(.insecure)) }
        #expect(peer.requests.all.isEmpty)
        await peer.stop()
    }

    @Test(arguments: Wire.allCases)
    func `R-100-25 what cannot or may not be sent is unsent`(_ wire: Wire) async throws {
        let transport = try await wire.transport()
        for url in ["http://127.0.0.1/", "ftp://127.0.0.1/", "", "nonsense", "https://"] {
            let outcome = await transport.send(HTTPRequest(method: "GET", url: url))
            #expect(outcome == .unsent(.invalidRequest))
        }
        for header in [
            HTTPHeader("X", "a\r\nY: b"), HTTPHeader("X", "a\0b"), HTTPHeader("X Y", "a"),
            HTTPHeader("", "a"),
        ] {
            let request = HTTPRequest(
                method: "GET", url: "https://127.0.0.1:1/", headers: [header])
            #expect(await transport.send(request) == .unsent(.invalidRequest))
        }
    }

    // MARK: - Bodies that are read once

    @Test(arguments: Wire.allCases)
    func `cases.md One-shot bodies: one is sent while it is read, in chunks`(
        _ wire: Wire
    ) async throws {
        let (peer, cutter, url) = try await cuttable { TLSPeer.Answer(body: $0.body) }
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        let count = Mutex(0)
        let wasStreamed = Mutex<[Bool]>([])
        let outcome = try await wire.transport().send(
            HTTPRequest(
                method: "POST", url: url,
                headers: [HTTPHeader("Content-Length", "5"), HTTPHeader("Content-Type", "a/b")],
                body: .oneShot {
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    if number == 3 {
                        // The first piece has left, the end is not even asked for.
                        let hasLeft = cutter.waitForOctets(1 << 20)
                        wasStreamed.withLock { $0.append(hasLeft) }
                        return nil
                    }
                    return number < 3 ? piece : nil
                }, maximumAnswerBytes: 4 << 20))
        guard case .answer(let answer) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(answer.body == piece + piece)
        #expect(wasStreamed.withLock { $0 } == [true])
        let seen = try #require(peer.requests.all.first)
        #expect(seen.all("transfer-encoding") == ["chunked"])
        #expect(seen.all("content-length") == [])
        cutter.stop()
        await peer.stop()
    }

    private struct SourceFailed: Error {}

    @Test(arguments: Wire.allCases)
    func `cases.md One-shot bodies: a source that fails never makes a shorter request`(
        _ wire: Wire
    ) async throws {
        let (peer, cutter, url) = try await cuttable { _ in TLSPeer.Answer() }
        let count = Mutex(0)
        let outcome = try await wire.transport().send(
            HTTPRequest(
                method: "POST", url: url,
                body: .oneShot {
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    guard number < 3 else { throw SourceFailed() }
                    return [UInt8](repeating: 7, count: 100_000)
                }))
        #expect(outcome == .lost(.broken))
        #expect(peer.requests.all.isEmpty)
        cutter.stop()
        await peer.stop()
    }
}

extension HTTPOutcome {
    fileprivate var isLoss: Bool {
        if case .answer = self { false } else { true }
    }
}
