import CarpoolSystem
import Glibc

/// A listener that runs a test's function for each connection, on a thread of its own.
final class FakeDaemon {
    /// The action for a connection.
    enum Reply: Sendable {
        /// Read one line, then write this, and close.
        case answer(String)
        /// Close without reading.
        case leave
    }

    let folder: String
    var socketPath: String { "\(folder)/s" }
    private var thread = pthread_t()

    /// Serves one connection for each reply, in their order.
    init(_ replies: [Reply]) throws {
        var template = Array("/tmp/carpool-test-XXXXXX".utf8CString)
        folder = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
        chmod(folder, 0o700)
        let listener = try UnixSocket.listen(at: "\(folder)/s")
        let script = Unmanaged.passRetained(Script(listener: listener, replies: replies)).toOpaque()
        pthread_create(
            &thread, nil,
            { argument in
                argument.map { Unmanaged<Script>.fromOpaque($0).takeRetainedValue().run() }
                return nil
            }, script)
    }

    var location: SocketLocation { SocketLocation.resolve(option: socketPath) }

    deinit {
        pthread_join(thread, nil)
        for name in ["s", "s.lock"] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    private final class Script {
        let listener: FileDescriptor
        let replies: [Reply]

        init(listener: consuming FileDescriptor, replies: [Reply]) {
            self.listener = listener
            self.replies = replies
        }

        func run() {
            for reply in replies {
                let deadline = MonotonicTime.read().advanced(milliseconds: 10_000)
                guard deadline.waitForInput(listener.raw), case .accepted(let peer) = UnixSocket.accept(listener.raw)
                else { return }
                switch reply {
                case .answer(let text): answer(peer.raw, text, deadline)
                // Closing with unread bytes would look like a daemon that ends at this moment; so wait for them.
                case .leave: _ = deadline.waitForInput(peer.raw)
                }
            }
        }

        private func answer(_ fd: Int32, _ text: String, _ deadline: MonotonicTime) {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            var last: UInt8?
            while last != UInt8(ascii: "\n"), deadline.waitForInput(fd) {
                guard case .bytes(let count) = buffer.withUnsafeMutableBytes({ Bytes.read(fd, into: $0) }) else {
                    return
                }
                last = buffer[count - 1]
            }
            try? BlockingOutput(borrowing: fd).write(Array(text.utf8))
        }
    }
}
