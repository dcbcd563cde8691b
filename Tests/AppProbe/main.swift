import Glibc

// An app in a process of its own, for tests that end it, hold it up, let its disk fail or run two of them.
//
//   app-probe store DIRECTORY [STEP...]             changes its stores, step by step
//   app-probe session DIRECTORY CA-FILE [STEP...]   uses the session in its stores, step by step
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "store" where words.count >= 2:
    exit(StoreScript(directory: words[1]).run(words.dropFirst(2)) ? 0 : 3)
case "session" where words.count >= 3:
    let script = SessionScript(directory: words[1], caFile: words[2])
    exit(await script.run(words.dropFirst(3)) ? 0 : 3)
default: exit(2)
}

/// Prints a line with one call: each is an event, in its place among the system calls.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
