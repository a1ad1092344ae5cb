import Glibc
import Synchronization

/// A shell command that lives as long as this process at most: it ends at the end of its standard input, also if we
/// crash.
final class ChildProcess: Sendable {
    private let input: Int32
    private let pid: pid_t

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// One child is started at a time: if another inherited its end of a pipe, its input would never end.
    private static let turn = Mutex(())

    /// Starts `script` in bash and waits until it has written a line.
    init(script: String) throws {
        var output: Int32 = -1
        (pid, input, output) = try ChildProcess.turn.withLock { _ in try ChildProcess.spawn(script) }
        var byte: UInt8 = 0
        let count = read(output, &byte, 1)
        close(output)
        guard count == 1 else { throw Failure(description: "ended before it was ready: \(script)") }
    }

    private static func spawn(_ script: String) throws -> (pid: pid_t, input: Int32, output: Int32) {
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure(description: "pipe") }
        for fd in toChild + fromChild { _ = ioctl(fd, UInt(FIOCLEX)) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        // The threads that run tests block signals; a child must receive them.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("bash"), strdup("-c"), strdup(script), nil]
        var pid: pid_t = 0
        let code = posix_spawn(&pid, "/bin/bash", &actions, &attributes, &arguments, environ)
        for argument in arguments { free(argument) }
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
        close(toChild[0])
        close(fromChild[1])
        guard code == 0 else { throw Failure(description: "posix_spawn: \(code)") }
        return (pid, toChild[1], fromChild[0])
    }

    /// Runs a command to its end.
    static func run(_ script: String) throws {
        let code = system(script)
        guard code == 0 else { throw Failure(description: "status \(code): \(script)") }
    }

    /// Ends it and waits for it.
    func end() {
        close(input)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
    }
}

/// Makes a new directory under /tmp.
func makeTemporaryDirectory() throws -> String {
    var template = Array("/tmp/carpool-http-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw ChildProcess.Failure(description: "mkdtemp") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
