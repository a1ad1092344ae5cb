internal import Glibc

/// Reads user, host and port as curl does.
extension CurlURL {
    /// A zone is a name of an interface.
    private static let maximumZoneBytes = 15

    /// Reads `user:password@host:port`.
    mutating func parse(authority: ArraySlice<UInt8>, hasScheme: Bool) throws(CurlURLError) {
        var place = authority
        if let at = authority.firstIndex(of: UInt8(ascii: "@")) {
            let login = authority[..<at]
            let colon = login.firstIndex(of: UInt8(ascii: ":"))
            user = login[..<(colon ?? login.endIndex)].text
            password = colon.map { login[($0 + 1)...].text }
            place = authority[(at + 1)...]
        }
        let end = try parsePort(place, hasScheme: hasScheme)
        let name = place[..<end]
        guard !name.isEmpty else { throw .noHost }
        if name.first == UInt8(ascii: "[") {
            try parseIPv6(name)
        } else if let address = CurlURL.address(name) {
            host = address
        } else {
            host = try CurlURL.name(name)
        }
    }

    /// Reads the port, and returns where the host ends.
    private mutating func parsePort(_ place: ArraySlice<UInt8>, hasScheme: Bool) throws(CurlURLError) -> Int {
        var colon = place.firstIndex(of: UInt8(ascii: ":"))
        if place.first == UInt8(ascii: "[") {
            guard let bracket = place.firstIndex(of: UInt8(ascii: "]")) else { throw .badIPv6 }
            colon = bracket + 1 < place.endIndex ? bracket + 1 : nil
            if let colon, place[colon] != UInt8(ascii: ":") { throw .badPort }
        }
        guard let colon else { return place.endIndex }
        let digits = place[(colon + 1)...]
        if digits.isEmpty {
            // As in browsers, a colon alone is the default port.
            guard hasScheme else { throw .badPort }
            return colon
        }
        guard digits.allSatisfy(\.isDigit), let number = UInt16(digits.text) else { throw .badPort }
        port = number
        return colon
    }

    private mutating func parseIPv6(_ name: ArraySlice<UInt8>) throws(CurlURLError) {
        guard name.count >= 4, name.last == UInt8(ascii: "]") else { throw .badIPv6 }
        var address = name.dropFirst().dropLast()
        if let percent = address.firstIndex(of: UInt8(ascii: "%")) {
            var zone = address[(percent + 1)...]
            if zone.starts(with: "25".utf8), zone.count > 2 { zone = zone.dropFirst(2) }
            guard (1...CurlURL.maximumZoneBytes).contains(zone.count) else { throw .badIPv6 }
            self.zone = zone.text
            address = address[..<percent]
        }
        var binary = in6_addr()
        guard inet_pton(AF_INET6, address.text, &binary) == 1 else { throw .badIPv6 }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &binary, &buffer, socklen_t(buffer.count)) != nil else { throw .badIPv6 }
        // curl writes the usual form only if it is shorter, so that capitals stay.
        let usual = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        host = "[" + (usual.count < address.count ? usual.text : address.text) + "]"
    }

    /// The usual form of a number of an IPv4 address, such as `127.1`, `0x7f.1` or `2130706433`; `nil` for a name.
    private static func address(_ name: ArraySlice<UInt8>) -> String? {
        let pieces = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard pieces.count <= 4 else { return nil }
        var numbers: [UInt32] = []
        for piece in pieces {
            guard let number = number(piece) else { return nil }
            numbers.append(number)
        }
        guard let last = numbers.popLast(), numbers.allSatisfy({ $0 <= 255 }) else { return nil }
        let bytes = 4 - numbers.count
        guard bytes == 4 || last < UInt32(1) << (8 * UInt32(bytes)) else { return nil }
        numbers += (0..<bytes).reversed().map { last >> (8 * UInt32($0)) & 255 }
        return "\(numbers[0]).\(numbers[1]).\(numbers[2]).\(numbers[3])"
    }

    private static func number(_ piece: ArraySlice<UInt8>) -> UInt32? {
        guard let first = piece.first, first.isDigit else { return nil }
        if piece.starts(with: "0x".utf8) {
            let digits = piece.dropFirst(2)
            return digits.first?.hexadecimalValue == nil ? nil : UInt32(digits.text, radix: 16)
        }
        return UInt32(piece.text, radix: first == UInt8(ascii: "0") ? 8 : 10)
    }

    private static func name(_ bytes: ArraySlice<UInt8>) throws(CurlURLError) -> String {
        let decoded = bytes.contains(UInt8(ascii: "%")) ? CurlPercent.decode(bytes) : Array(bytes)
        let refused = Set(" \r\n\t/:#?!@{}[]\\$'\"^`*<>=;,+&()%".utf8)
        guard !decoded.contains(where: { $0 < 0x20 || refused.contains($0) }),
            let text = String(validating: decoded, as: UTF8.self)
        else { throw .badHost }
        return text
    }
}
