import CarpoolSystem
import Glibc

/// Blocking sockets on 127.0.0.1, for origins that misbehave.
enum LoopbackSocket {
    /// A listening socket on a port, by default a free one, and the port.
    static func listen(backlog: Int32 = 64, on wanted: UInt16 = 0) throws -> (descriptor: Int32, port: UInt16) {
        let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { throw ChildProcess.Failure(description: "socket") }
        var one: Int32 = 1
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
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
        guard let port else {
            close(fd)
            throw ChildProcess.Failure(description: "bind")
        }
        return (fd, port)
    }

    /// Whether the socket of a port has an established connection, as the kernel lists it.
    static func isConnected(_ port: UInt16) -> Bool {
        guard let list = try? FileDescriptor.open("/proc/net/tcp", O_RDONLY),
            let bytes = try? Bytes.readAll(list.raw, atMost: 1 << 24, path: "/proc/net/tcp")
        else { return false }
        let digits = String(port, radix: 16, uppercase: true)
        let local = " 0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits + " "
        // The address, the other one, and 01 for the state ESTABLISHED.
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains { line in
            line.contains(local) && line.split(separator: " ").dropFirst(3).first == "01"
        }
    }

    /// A port without a listener: none of those that the kernel gives to connections, since another one would have it
    /// soon.
    static func freePort() throws -> UInt16 {
        for _ in 0..<100 {
            guard let (fd, port) = try? listen(on: .random(in: 10_000..<32_000)) else { continue }
            close(fd)
            return port
        }
        throw ChildProcess.Failure(description: "no free port")
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

    /// Resets the connection, and waits at most ten seconds until the client's kernel knows it. The descriptor
    /// stays open.
    func resetNow() {
        let client = remotePort
        var nowhere = sockaddr()
        nowhere.sa_family = sa_family_t(AF_UNSPEC)
        connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
        let deadline = ContinuousClock.now + .seconds(10)
        while LoopbackSocket.isConnected(client), ContinuousClock.now < deadline { usleep(1_000) }
    }

    private var remotePort: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
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
