internal import Glibc

/// How many descriptors this process may have (RLIMIT_NOFILE).
public enum DescriptorLimit {
    /// Takes all that the system allows: the lower limit that a shell hands on is for programs that use `select`. Changes nothing
    /// where that is refused.
    public static func raise() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
    }

    /// The most connections that leave `spared` descriptors to the rest of the process; half of all where that is more.
    static func connections(sparing spared: Int) -> Int {
        var limit = rlimit()
        guard spared > 0, getrlimit(resource, &limit) == 0 else { return .max }
        let all = Int(clamping: limit.rlim_cur)
        return max(all - spared, all / 2, 1)
    }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
