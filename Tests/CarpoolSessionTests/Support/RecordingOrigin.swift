import Foundation
import Synchronization

/// An origin that records what it receives, byte for byte, one connection for each request. `/to/STATUS` redirects to
/// `/landed`.
final class RecordingOrigin: Sendable {
    /// One request: the lines of its head and its body.
    struct Recorded: Equatable {
        var head: [String]
        var body: [UInt8]
    }

    let port: UInt16
    private let listener: Int32
    private let recorded = Mutex<[Recorded]>([])

    struct Failure: Error {}

    init(on wanted: UInt16 = 0) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else {
            close(listener)
            throw Failure()
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in serve() }
    }

    /// Stops listening.
    func end() { shutdown(listener, Int32(SHUT_RDWR)) }

    /// The requests since the last call. A client that has its response has been recorded.
    func take() -> [Recorded] {
        recorded.withLock { recorded in
            defer { recorded = [] }
            return recorded
        }
    }

    private func serve() {
        while true {
            let peer = accept(listener, nil, nil)
            guard peer >= 0 else { break }
            if let request = RecordingOrigin.read(peer) {
                recorded.withLock { $0.append(request) }
                let target = request.head.first?.split(separator: " ").dropFirst().first ?? ""
                RecordingOrigin.answer(peer, target)
            }
            close(peer)
        }
        close(listener)
    }

    private static func answer(_ peer: Int32, _ target: Substring) {
        let redirect = target.hasPrefix("/to/") ? target.dropFirst(4) : nil
        let text =
            "HTTP/1.1 \(redirect ?? "200") X\r\n\(redirect == nil ? "" : "Location: /landed\r\n")"
            + "Content-Length: 0\r\nConnection: close\r\n\r\n"
        _ = text.withCString { send(peer, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }

    private static func read(_ peer: Int32) -> Recorded? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            var byte: UInt8 = 0
            guard recv(peer, &byte, 1, 0) == 1 else { return nil }
            bytes.append(byte)
        }
        let head = String(decoding: bytes.dropLast(4), as: UTF8.self).components(separatedBy: "\r\n")
        let length = head.first { $0.lowercased().hasPrefix("content-length:") }.flatMap { Int($0.dropFirst(16)) } ?? 0
        var body = [UInt8](repeating: 0, count: length)
        var done = 0
        while done < length {
            let count = body[done...].withUnsafeMutableBytes { recv(peer, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return nil }
            done += count
        }
        return Recorded(head: head, body: body)
    }
}
