import Glibc

// The stores of an app in a process of its own, for tests that end it, hold it up or let its disk fail.
//
//   app-probe store DIRECTORY [STEP...]   changes them, step by step
let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2, words[0] == "store" else { exit(2) }
exit(StoreScript(directory: words[1]).run(words.dropFirst(2)) ? 0 : 3)

/// Prints a line with one call: each is an event, in its place among the system calls.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
