import AssertionMint
import JOSE

/// `broker block JKT` and `broker unblock JKT`.
enum BlockCommand {
    static let help = """
        Usage: broker block JKT [--client CLIENT_ID] [--reason TEXT]
               broker unblock JKT [--client CLIENT_ID]

        Refuses every assertion to the install with this DPoP key thumbprint (43 base64url
        characters, `jkt` in the log), for one client or, without --client, for all; from the
        next batch of every replica on. unblock lifts the block that was made the same way; replicas
        know it within about a second.

        \(DatabaseOptions.help)
        """

    static func block(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options.union(["--client", "--reason"]),
            positional: 1...1)
        let block = try block(arguments)
        let reason = try arguments.remark("--reason", maximumLength: 500)
        let repository = BlockRepository(connection: try DatabaseOptions.connection(arguments))
        let isKnown: Bool
        do { isKnown = try await repository.block(block, reason: reason) } catch {
            throw CommandError(error)
        }
        guard isKnown else { throw .notFound("there is no such client") }
        Output.line("blocked \(describe(block))")
    }

    static func unblock(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options.union(["--client"]), positional: 1...1)
        let block = try block(arguments)
        let repository = BlockRepository(connection: try DatabaseOptions.connection(arguments))
        let isLifted: Bool
        do { isLifted = try await repository.unblock(block) } catch { throw CommandError(error) }
        guard isLifted else { throw .notFound("no such block: \(describe(block))") }
        Output.line("unblocked \(describe(block))")
    }

    private static func block(_ arguments: Arguments) throws(CommandError) -> Block {
        guard let jkt = DpopJkt(arguments.positional[0]) else {
            throw .usage("JKT must be 43 base64url characters of a SHA-256 thumbprint")
        }
        let client = try arguments.value("--client").map { (text) throws(CommandError) in
            guard let client = ClientId(text) else {
                throw .usage("--client: no such client_id is possible")
            }
            return client
        }
        return Block(jkt: jkt, client: client)
    }

    private static func describe(_ block: Block) -> String {
        "\(block.jkt) for \(block.client.map { "client \($0)" } ?? "all clients")"
    }
}
