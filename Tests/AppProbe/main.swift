import Glibc

// An app in a process of its own, for tests that end it, hold it up or let its disk fail.
//
//   app-probe store DIRECTORY [STEP...]   changes the stores of an app, step by step
//   app-probe sign-in 1 DIRECTORY ISSUER CA CLIENT KEY  enrols with the sandbox provider, where it has not yet, and signs in
//   app-probe calls N DIRECTORY ISSUER CA CLIENT KEY    calls the provider's demo API so many times
//   app-probe refresh N DIRECTORY ISSUER CA CLIENT KEY  refreshes the session so many times
//   app-probe sign-out 1 DIRECTORY ISSUER CA CLIENT KEY signs out
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "store" where words.count >= 2:
    exit(StoreScript(directory: words[1]).run(words.dropFirst(2)) ? 0 : 3)
case .some(let command) where words.count == 7:
    exit(await AppScript(words[2...])?.run(command, times: Int(words[1]) ?? 0) == true ? 0 : 3)
default:
    exit(2)
}

/// Prints a line with one call: each is an event, in its place among the system calls.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
