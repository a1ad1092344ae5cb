internal import CarpoolHTTP

/// The key of stored responses on disk: 128 bits of a hash of partition and URL.
struct DiskKey: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// The part by which the store remembers in memory which keys it has.
    var hash: UInt64 { high }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The key of these bytes: the first half of their SHA-256.
    init(hashing bytes: [UInt8]) {
        let digest = SHA256Digest.bytes(of: bytes)
        self.init(high: DiskKey.word(digest[0..<8]), low: DiskKey.word(digest[8..<16]))
    }

    /// Reads the 16 bytes of a key.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(high: DiskKey.word(bytes[0..<8]), low: DiskKey.word(bytes[8..<16]))
    }

    /// The 16 bytes.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.add(high)
        writer.add(low)
        return writer.bytes
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

extension CacheKey {
    /// The key on disk; `nil` if the next run of the program could not tell who answers: then its responses stay in
    /// memory. That is so with trust settings, TLS settings, a client certificate, a connected socket, and with a
    /// password for a proxy, whose hash would say something about it.
    var diskIdentity: DiskKey? {
        var writer = ByteWriter()
        guard partition.addIdentity(to: &writer) else { return nil }
        writer.add(text: url)
        return DiskKey(hashing: writer.bytes)
    }
}

extension ConnectionPartition {
    /// Adds what distinguishes the partition; `false` if that is not the same in each run of the program.
    fileprivate func addIdentity(to writer: inout ByteWriter) -> Bool {
        // The version of this text.
        writer.add(UInt8(1))
        writer.add(user.map { UInt64($0) } ?? .max)
        writer.add(optional: host)
        guard let values = settings?.values else {
            writer.add(UInt8(0))
            return true
        }
        guard values.trust == .system, values.tls == nil, values.certificate == nil else { return false }
        writer.add(UInt8(1))
        guard ConnectionPartition.add(values.proxy, to: &writer) else { return false }
        return ConnectionPartition.add(values.addresses, to: &writer)
    }

    private static func add(_ proxy: Proxy?, to writer: inout ByteWriter) -> Bool {
        guard let proxy else {
            writer.add(UInt8(0))
            return true
        }
        guard proxy.credential == nil else { return false }
        writer.add(UInt8(1))
        writer.add(text: proxy.kind.rawValue)
        writer.add(text: proxy.host)
        writer.add(UInt64(proxy.port))
        writer.add(UInt8(proxy.tunnelsEverything ? 1 : 0))
        return add(proxy.preproxy, to: &writer)
    }

    private static func add(_ addresses: ConnectionAddresses?, to writer: inout ByteWriter) -> Bool {
        guard let addresses else {
            writer.add(UInt8(0))
            return true
        }
        writer.add(UInt8(1))
        writer.add(UInt64(addresses.resolve.count))
        for entry in addresses.resolve { writer.add(text: entry.text) }
        writer.add(UInt64(addresses.connectTo.count))
        for entry in addresses.connectTo { writer.add(text: entry.text) }
        writer.add(optional: addresses.interface)
        writer.add(optional: addresses.localAddress)
        writer.add(optional: addresses.family?.rawValue)
        switch addresses.socket {
        case nil: writer.add(optional: nil)
        case .path(let path): writer.add(optional: path)
        case .connected: return false
        }
        return true
    }
}
