import Synchronization
import TestKit

/// A network between broker and database that breaks at the worst moment: when armed it lets the next statement through and
/// drops the connection with the first octet of its answer, so that the commit happened and nobody was told.
final class CommitEater: Sendable {
    private final class Trap: Sendable {
        let isArmed = Atomic(false)
        let eaten = Atomic(0)
    }

    private let trap: Trap
    private let doorway: DatabaseDoorway

    /// How many answers were eaten.
    var count: Int { trap.eaten.load(ordering: .sequentiallyConsistent) }

    init(before cluster: PostgresCluster) throws {
        let trap = Trap()
        self.trap = trap
        doorway = try DatabaseDoorway(before: cluster) { piece in
            guard case .answer = piece,
                trap.isArmed.exchange(false, ordering: .sequentiallyConsistent)
            else { return true }
            trap.eaten.add(1, ordering: .sequentiallyConsistent)
            return false
        }
    }

    /// The same database through this.
    func url(of database: String) -> String { doorway.url(of: database) }

    /// The next answer will not arrive.
    func arm() { trap.isArmed.store(true, ordering: .sequentiallyConsistent) }
}
