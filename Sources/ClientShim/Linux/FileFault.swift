#if os(Linux)
    import Glibc

    /// What can go wrong with the files of a store.
    enum FileFault: Error, Equatable {
        /// Altered, renamed, or sealed under another master key.
        case tampered
        case badName
        case exists
        /// More than a store's file may hold.
        case tooLarge
        /// The directory can be used by group or others, or belongs to somebody else.
        case openToOthers
        case system(String, errno: Int32)
        case sealing

        /// Text for developers: what failed and how, never a name or a content.
        var details: String {
            switch self {
            case .tampered: "altered, renamed or sealed under another key"
            case .badName: "no name for a file"
            case .exists: "exists"
            case .tooLarge: "more than \(DurableDirectory.maximumFileBytes) bytes"
            case .openToOthers: "the directory is open to group or others"
            case .system(let call, let number):
                "\(call): \(String(cString: strerror(number))) (errno \(number))"
            case .sealing: "sealing failed"
            }
        }
    }

    /// The result of a system call that gives -1 when it fails; one that a signal interrupted is made again.
    @discardableResult
    func system(_ call: String, _ body: () -> Int32) throws(FileFault) -> Int32 {
        while true {
            let result = body()
            guard result < 0 else { return result }
            let number = errno
            guard number == EINTR else { throw .system(call, errno: number) }
        }
    }
#endif
