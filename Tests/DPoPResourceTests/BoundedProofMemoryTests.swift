import JOSE
import Testing

@testable import DPoPResource

@Suite struct BoundedProofMemoryTests {
    func proof(_ name: Int) -> [UInt8] { SHA256.hash("\(name)".utf8) }

    @Test func `a proof is first once, until it could not be accepted any more`() async throws {
        let memory = BoundedProofMemory()
        #expect(try await memory.spend(proof(1), until: 100, now: 40))
        #expect(try await !memory.spend(proof(1), until: 100, now: 40))
        #expect(try await !memory.spend(proof(1), until: 160, now: 100))
        #expect(try await memory.spend(proof(1), until: 160, now: 101))
        #expect(try await memory.spend(proof(2), until: 160, now: 101))
    }

    @Test func `of 200 that come at the same time one is first`() async throws {
        let memory = BoundedProofMemory()
        let proof = proof(1)
        let firsts = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 {
                group.addTask { try await memory.spend(proof, until: 100, now: 40) }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(firsts == 1)
    }

    @Test func `a full memory refuses rather than forgets, and takes more as proofs get old`()
        async throws
    {
        let memory = BoundedProofMemory(capacity: 3)
        for name in 1...3 {
            #expect(try await memory.spend(proof(name), until: 100 + Int64(name), now: 40))
        }
        await #expect(throws: ProofMemoryFault()) {
            try await memory.spend(proof(4), until: 120, now: 41)
        }
        #expect(try await !memory.spend(proof(3), until: 103, now: 42))
        #expect(try await memory.spend(proof(4), until: 120, now: 102))
        #expect(memory.count <= 3)
    }

    @Test func `making room forgets none that could still be accepted`() async throws {
        let memory = BoundedProofMemory()
        for name in 0..<2_000 {
            #expect(try await memory.spend(proof(name), until: 100 + Int64(name % 10), now: 40))
        }
        for now: Int64 in 95...109 {
            for name in 0..<2_000 where 100 + Int64(name % 10) >= now {
                #expect(try await !memory.spend(proof(name), until: 200, now: now))
            }
        }
    }

    @Test func `however many pass, it holds the proofs of its window`() async throws {
        let memory = BoundedProofMemory()
        for name in 0..<50_000 {
            let now = Int64(name / 100)
            #expect(try await memory.spend(proof(name), until: now + 10, now: now))
        }
        #expect(memory.count < 100 * 13)
    }

    @Test(arguments: [0, 31, 33])
    func `what is no SHA-256 is not recorded`(count: Int) async {
        await #expect(throws: ProofMemoryFault()) {
            try await BoundedProofMemory().spend(
                [UInt8](repeating: 0, count: count), until: 1, now: 0)
        }
    }
}
