import ClientShim

/// One process life of the app on the demo's phone: what an app makes at its launch.
struct Phone: Sendable {
    let life = Lifeline()
    let environment: AuthnEnvironment
    let authn: Authn
    let provider: any ClientAssertionProvider

    init(
        ready: ReadyFile, directory: AppDirectory, network: PhoneNetwork,
        ageing: PhoneStore.Ageing, board: Board
    ) throws {
        var environment = try directory.environment(caFile: ready.caFile)
        environment.keyStore = PhoneKeyStore(
            wrapped: environment.keyStore, life: life, board: board)
        environment.store = PhoneStore(
            wrapped: environment.store, life: life, board: board, ageing: ageing)
        environment.transport = PhoneTransport(
            wrapped: environment.transport, network: network, life: life, board: board,
            clock: environment.clock, brokerURL: ready.broker)
        environment.faceEngine = PictureEngine()
        environment.onDiagnostic = { [life] event in
            if life.isAlive { board.post(.step(event.text)) }
        }
        self.environment = environment
        authn = try Authn(environment: environment)
        provider = BrokerAssertionProvider(brokerURL: ready.broker, environment: environment)
        authn.setClientAssertionProvider(provider)
    }
}

extension DiagnosticEvent {
    /// One line.
    var text: String {
        let answer = [status.map { "\($0)" }, error].compactMap(\.self).joined(separator: " ")
        return "\(flow)/\(step): \(outcome)" + (answer.isEmpty ? "" : " (\(answer))")
            + " in \(elapsedMilliseconds) ms"
    }
}
