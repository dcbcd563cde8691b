/// `broker apply FILE`: makes the database hold what a file declares.
enum ApplyCommand {
    static let help = """
        Usage: broker apply FILE [--dry-run] [--prune] [--keys-now] [--database-url URL]

        Reads tenants, clients, keys, gates, limits and which tokens clients have from FILE (JSON5)
        and makes the database hold exactly that, in one transaction. What it takes away or changes
        holds from the next mint on, what it adds within about a second, on every replica. The whole
        file is refused when anything in it is wrong, and every fault is named with its place.

          --dry-run   show what would change and change nothing
          --keys-now  change keys without the waiting times that keep providers working: a new key is
                      published \(KeyOverlap.published) s before it signs, an old one until its last assertion has
                      expired. For a key that leaked
          --prune     remove tenants and clients that FILE does not name (they stay otherwise)
        \(DatabaseOptions.help)
        """

    static func run(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options, flags: ["--dry-run", "--keys-now", "--prune"],
            positional: 1...1)
        let path = arguments.positional[0]
        let declaration: Declaration
        do {
            declaration = try DeclarationReader.read(try TextFile.read(path))
        } catch let refused as DocumentRefused {
            let faults = refused.faults.map { "\(path): \($0)" }.joined(separator: "\n")
            throw .refused("\(faults)\nnothing was changed")
        } catch let error as CommandError {
            throw error
        } catch {
            throw .refused("\(path): \(error)")
        }
        let repository = DeclarationRepository(
            connection: try DatabaseOptions.connection(arguments))
        let isDryRun = arguments.has("--dry-run")
        let plan: DeclarationPlan
        do {
            plan = try await repository.apply(
                declaration, prune: arguments.has("--prune"),
                keysNow: arguments.has("--keys-now"), dryRun: isDryRun)
        } catch {
            throw CommandError(error)
        }
        guard plan.conflicts.isEmpty else {
            throw .refused((plan.conflicts + ["nothing was changed"]).joined(separator: "\n"))
        }
        plan.lines.forEach(Output.line)
        plan.kept.forEach { Output.note("note: \($0)") }
        if let note = certificateNote(declaration) { Output.note("note: \(note)") }
        if plan.isEmpty {
            Output.line("nothing to change")
        } else {
            Output.line(
                isDryRun ? "dry run: nothing was changed" : "applied \(plan.lines.count) change(s)")
        }
    }
    /// A declaration cannot know how the servers run, so it says what the `mtls` gates need of them.
    private static func certificateNote(_ declaration: Declaration) -> String? {
        let clients = declaration.tenants.flatMap(\.clients)
            .filter { !$0.settings.certificates.isEmpty }.map { "\($0.id)" }.sorted()
        guard !clients.isEmpty else { return nil }
        return
            "the mtls gates of \(clients.joined(separator: ", ")) stay closed on a server without "
            + "tls.client_authority_file (or client_certificates of its trusted proxies)"
    }
}
