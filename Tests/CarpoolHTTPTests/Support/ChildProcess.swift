import Glibc

/// A shell command that lives as long as this process at most: it is told to end by the end of its standard input, also if we crash.
final class ChildProcess: Sendable {
    private let input: Int32
    private let pid: pid_t

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts `script` in sh and waits until it has written a line.
    init(script: String) throws {
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure(description: "pipe") }
        // Other children must not hold our end open, or this one would never see its input end.
        for fd in [toChild[1], fromChild[0]] { _ = ChildProcess.closeOnExec(fd) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        posix_spawn_file_actions_addclose(&actions, toChild[0])
        posix_spawn_file_actions_addclose(&actions, fromChild[1])
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(script), nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, "/bin/sh", &actions, nil, &arguments, environ)
        posix_spawn_file_actions_destroy(&actions)
        close(toChild[0])
        close(fromChild[1])
        guard code == 0 else { throw Failure(description: "posix_spawn: \(code)") }
        self.input = toChild[1]
        self.pid = pid
        var byte: UInt8 = 0
        let count = read(fromChild[0], &byte, 1)
        close(fromChild[0])
        guard count == 1 else { throw Failure(description: "ended before it was ready: \(script)") }
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

    private static func closeOnExec(_ fd: Int32) -> Int32 { ioctl(fd, UInt(FIOCLEX)) }
}

/// Makes a new directory under /tmp.
func makeTemporaryDirectory() throws -> String {
    var template = Array("/tmp/carpool-http-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw ChildProcess.Failure(description: "mkdtemp") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
