import Foundation
import Testing

@testable import SocketServer

@Suite struct ConnectionMachineTests {
    @Test func `the diagram beside the machine names exactly its states`() throws {
        let diagram = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/SocketServer/Connection/ConnectionMachine.md")
        let drawn = try String(contentsOf: diagram, encoding: .utf8).split(separator: "\n")
            .filter { $0.contains("-->") }
            .flatMap { $0.split(separator: ":")[0].split(separator: "-->") }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0 != "[*]" }
        #expect(Set(drawn) == Set(ConnectionMachine.State.allCases.map { "\($0)" }))
    }

    @Test func `an answer nobody waits for changes nothing a request could see`() {
        var machine = ConnectionMachine(
            limits: HTTPLimits(), peer: Peer(address: .loopback, isTLS: false))
        #expect(machine.answered(closes: false).closes)
        #expect(machine.state == .finished)
    }
}
