internal import CPKCS11
internal import Glibc
internal import Synchronization

/// A PKCS #11 module, loaded once a process and never unloaded.
///
/// Sendable: `generation` and `isInitialized` are touched under `lock` alone, and the module itself locks (`CKF_OS_LOCKING_OK`).
final class PKCS11Module: @unchecked Sendable {
    typealias Functions = UnsafePointer<CK_FUNCTION_LIST>

    private let functions: Functions
    /// Held for reading while calls are under way, for writing while the module is started anew.
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>
    private var isInitialized = false
    /// Counts the starts: handles of an earlier one mean nothing.
    private var generation = 0
    private var restartedAt = timespec()

    /// Sessions that nobody uses at this moment, by the token's name. Keys share them: a process is logged in as a whole, and
    /// an object's handle is good in every session.
    private let idle = Mutex<[String: [IdleSession]]>([:])

    struct IdleSession: Sendable {
        let handle: CK_ULONG
        /// The start it belongs to.
        let generation: Int
    }

    /// As many as are kept open for a token, which may have few.
    private static let keptSessions = 4

    private static let modules = Mutex<[String: PKCS11Module]>([:])

    /// The module at `path`, or the one that the environment's `PKCS11_MODULE_PATH` names.
    static func at(_ path: String?) throws(KeyError) -> PKCS11Module {
        guard let path = path ?? getenv("PKCS11_MODULE_PATH").map({ String(cString: $0) }) else {
            throw .module(
                "none is named: add module-path to the URI, or set PKCS11_MODULE_PATH")
        }
        if let module = modules.withLock({ $0[path] }) { return module }
        let module = try PKCS11Module(path)
        // Of two that were made at once one stays; both are the same library.
        return modules.withLock { modules in
            if let first = modules[path] { return first }
            modules[path] = module
            return module
        }
    }

    private init(_ path: String) throws(KeyError) {
        try Self.checkFile(path)
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw .module("\(path): \(dlerror().map { String(cString: $0) } ?? "cannot be loaded")")
        }
        var list: UnsafeMutablePointer<CK_FUNCTION_LIST>?
        guard let symbol = dlsym(library, "C_GetFunctionList") else {
            throw .module("\(path): it has no C_GetFunctionList")
        }
        let getList = unsafeBitCast(symbol, to: CK_C_GetFunctionList.self)
        guard getList(&list) == CKR_OK, let list, list.pointee.version.major == 2 else {
            throw .module("\(path): it does not speak PKCS #11 version 2")
        }
        functions = Functions(list)
        lock = .allocate(capacity: 1)
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// A URI comes from the database, and a module runs with all that this process may do: so only what root or this user has
    /// put on the machine is loaded.
    private static func checkFile(_ path: String) throws(KeyError) {
        guard path.hasPrefix("/") else { throw .module("\(path): name it by its absolute path") }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .module("\(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o022 == 0,
            status.st_uid == 0 || status.st_uid == geteuid()
        else {
            throw .module(
                "\(path): it must be a file of root's or of the broker's user that nobody else may write"
            )
        }
    }

    /// Lends the functions and the number of the start they belong to.
    func use<Value>(
        _ body: (Functions, Int) throws(KeyError) -> Value
    ) throws(KeyError) -> Value {
        pthread_rwlock_rdlock(lock)
        if !isInitialized {
            pthread_rwlock_unlock(lock)
            try initialize()
            pthread_rwlock_rdlock(lock)
        }
        defer { pthread_rwlock_unlock(lock) }
        guard isInitialized else { throw .module("it was stopped and does not start again") }
        return try body(functions, generation)
    }

    func takeIdle(of token: String) -> IdleSession? {
        idle.withLock { $0[token]?.popLast() }
    }

    /// False when enough are kept already.
    func keep(_ session: IdleSession, of token: String) -> Bool {
        idle.withLock { idle in
            guard idle[token, default: []].count < Self.keptSessions else { return false }
            idle[token, default: []].append(session)
            return true
        }
    }

    /// What one session has lost the others have lost too.
    func dropIdle(of token: String) -> [IdleSession] {
        idle.withLock { $0.removeValue(forKey: token) ?? [] }
    }

    private func initialize() throws(KeyError) {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        guard !isInitialized else { return }
        try start()
    }

    /// To be called with `lock` held for writing.
    private func start() throws(KeyError) {
        var arguments = CK_C_INITIALIZE_ARGS()
        arguments.flags = CK_ULONG(CKF_OS_LOCKING_OK)
        let code = functions.pointee.C_Initialize(&arguments)
        guard code == CKR_OK || code == CKR_CRYPTOKI_ALREADY_INITIALIZED else {
            throw .token(call: "C_Initialize", code: code)
        }
        isInitialized = true
        generation += 1
    }

    /// Ends the module and starts it again, which is how a token that was away is found once more. At most every two seconds,
    /// since it takes the sessions of all tokens, and only while nobody else is in a call.
    ///
    /// - Parameter seen: the start that the caller's failure belongs to; a newer one is good enough.
    func restart(seen: Int) throws(KeyError) {
        guard pthread_rwlock_trywrlock(lock) == 0 else { return }
        defer { pthread_rwlock_unlock(lock) }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        guard generation == seen, restartedAt.tv_sec == 0 || now.tv_sec - restartedAt.tv_sec >= 2
        else { return }
        restartedAt = now
        if isInitialized { _ = functions.pointee.C_Finalize(nil) }
        isInitialized = false
        try start()
    }
}
