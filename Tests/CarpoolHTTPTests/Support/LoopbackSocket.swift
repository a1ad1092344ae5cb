import Glibc

/// Blocking sockets on 127.0.0.1, for origins that misbehave.
enum LoopbackSocket {
    /// A listening socket on a free port, and the port.
    static func listen(backlog: Int32 = 64) throws -> (descriptor: Int32, port: UInt16) {
        let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { throw ChildProcess.Failure(description: "socket") }
        var one: Int32 = 1
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard bind(fd, $0, length) == 0, Glibc.listen(fd, backlog) == 0, getsockname(fd, $0, &length) == 0
                else { return nil }
                return $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            }
        }
        guard let port else { throw ChildProcess.Failure(description: "bind") }
        return (fd, port)
    }

    /// A port without a listener.
    static func freePort() throws -> UInt16 {
        let (fd, port) = try listen()
        close(fd)
        return port
    }
}

/// A blocking connection accepted from a client.
struct Peer {
    let descriptor: Int32
    /// How many connections the origin has accepted before this one.
    let index: Int

    /// Reads until a blank line; `nil` if the client closes first. What follows the head stays unread only if it came
    /// later.
    func readHead() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func read(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let n = bytes[done...].withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if n <= 0 { break }
            done += n
        }
        return Array(bytes[..<done])
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let n = bytes[done...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if n <= 0 { return }
            done += n
        }
    }

    /// Blocks until the client has closed its side.
    func waitForEnd() {
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) > 0 {}
    }

    /// Closes with a reset instead of an end of file.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }
}

/// An origin made of a script: each connection runs it on a thread of its own and is closed when it returns.
final class ScriptedOrigin: Sendable {
    let port: UInt16
    private let listener: Int32
    private let script: @Sendable (Peer) -> Void

    init(_ script: @escaping @Sendable (Peer) -> Void) throws {
        (listener, port) = try LoopbackSocket.listen()
        self.script = script
        startThread { [self] in accept() }
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// Stops listening; connections stay open.
    func end() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func accept() {
        var index = 0
        while true {
            let fd = Glibc.accept(listener, nil, nil)
            if fd < 0 { break }
            let peer = Peer(descriptor: fd, index: index)
            index += 1
            startThread { [script] in
                script(peer)
                close(peer.descriptor)
            }
        }
        close(listener)
    }
}

private final class ThreadBody {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Runs a block on a new thread: the origins block, and the pool of Swift's tasks is too small for that.
func startThread(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    pthread_create(
        &thread, nil,
        { context in
            if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
            return nil
        }, context)
    pthread_detach(thread)
}
