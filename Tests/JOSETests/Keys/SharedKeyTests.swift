import JOSE
import Testing

/// Cases, ops "Crypto set-up for each call": one key, parsed once, used from many threads at the same time.
@Suite struct SharedKeyTests {
    @Test(arguments: JWSAlgorithm.allCases, [1, 4, 16])
    func `signatures made at the same time with one key all verify`(
        algorithm: JWSAlgorithm, tasks: Int
    ) async throws {
        let key = try TestKeys.key(algorithm)
        let verifier = try PublicKey(key.publicJWK)
        let count = algorithm == .ES256 ? 200 : 20
        let verified = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var verified = 0
                    for number in 0..<count {
                        let message = Array("\(task) \(number)".utf8)
                        let signature = try key.sign(message)
                        if verifier.verifies(signature, over: message),
                            !verifier.verifies(signature, over: message + [0])
                        {
                            verified += 1
                        }
                    }
                    return verified
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(verified == tasks * count)
    }
}
