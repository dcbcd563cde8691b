import Testing

@testable import DemoApp

@Suite struct NetworkConditionsTests {
    private func fates(
        _ network: NetworkConditions, of peers: [Peer]
    ) -> [NetworkConditions.Fate] {
        var network = network
        return peers.map { network.fate(ofMessageTo: $0) }
    }

    @Test func `a network that was cut lets nothing through until it is mended`() {
        var network = NetworkConditions()
        network.cut()
        #expect(fates(network, of: [.broker, .provider]) == [.cut, .cut])
        network.mend()
        #expect(fates(network, of: [.broker, .provider]) == [.passes, .passes])
        #expect(network.text == "whole")
    }

    @Test func `as many messages are lost as asked for, and no more`() {
        var network = NetworkConditions()
        network.loseRequests(1, of: nil)
        network.loseAnswers(2, of: nil)
        #expect(
            fates(network, of: [.broker, .broker, .provider, .provider])
                == [.requestLost, .answerLost, .answerLost, .passes])
        #expect(network.text == "the next message is lost; the next 2 answers are lost")
    }

    @Test func `a loss at one peer leaves the other alone`() {
        var network = NetworkConditions()
        network.loseAnswers(1, of: .provider)
        #expect(
            fates(network, of: [.broker, .broker, .provider, .provider])
                == [.passes, .passes, .answerLost, .passes])
        #expect(network.text == "the next answer (provider) is lost")
    }

    @Test func `what a cut network swallows does not count as lost`() {
        var network = NetworkConditions()
        network.loseRequests(1, of: nil)
        network.cut()
        _ = network.fate(ofMessageTo: .provider)
        #expect(network.text == "cut; the next message is lost")
    }
}
