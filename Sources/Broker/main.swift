import Glibc
import JOSE

OpenSSLLifetime.coverExit()
exit(await Program.run(Array(CommandLine.arguments.dropFirst())))
