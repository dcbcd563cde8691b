import Foundation
import TestKit
import Testing

@testable import ClientShim

/// `docs/integrate-app.md`: what an app engineer copies compiles, and does what the page says.
@Suite struct IntegrateAppTests {
    @Test func `every snippet of the page is code that is compiled and run here`() throws {
        let (count, missing) = try PageSnippets.missing(
            of: "integrate-app.md", in: "ClientShimTests/Documentation/IntegrateApp.swift")
        #expect(count >= 8)
        #expect(missing == [])
    }

    @Test func `an app as the page builds it signs in, calls its API, starts again and signs out`()
        async throws
    {
        let world = try await World(verdicts: [.mismatch, .match])
        #expect(shown(IntegrateApp.first(world.authn)) == "signIn")
        let flow = world.authn.startSignInFlow(config: world.config)
        async let frames: Void = IntegrateApp.capture(flow, nextFrame: { [1, 2, 3] })
        var screens: [String] = []
        await IntegrateApp.watch(flow) { screens.append(shown($0)) }
        await frames
        #expect(screens.contains("camera 3"))
        #expect(screens.contains("camera 2 no match"))
        #expect(screens.last == "home")
        #expect(shown(IntegrateApp.first(try world.restarted())) == "home")
        await IntegrateApp.end(world.authn)
        #expect(shown(IntegrateApp.first(world.authn)) == "signIn")
    }

    @Test func `R-101-05 an app whose backend gives no assertion shows a network failure`()
        async throws
    {
        let provider = IntegrateApp.BackendProvider { _, _, _ in throw CancellationError() }
        let world = try await World()
        let flow = world.authn.startSignInFlow(
            config: world.config, clientAssertionProvider: provider)
        var screens: [String] = []
        await IntegrateApp.watch(flow) { screens.append(shown($0)) }
        #expect(screens.last == "sorry network")
    }

    private func shown(_ screen: IntegrateApp.Screen) -> String {
        switch screen {
        case .signIn: "signIn"
        case .home: "home"
        case .progress: "progress"
        case .camera(let left, let wasNoMatch): "camera \(left)" + (wasNoMatch ? " no match" : "")
        case .tryAgain: "try again"
        case .sorry(let reason): "sorry \(reason)"
        }
    }
}
