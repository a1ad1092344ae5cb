@testable import CarpoolHTTP
@testable import CarpoolSession

/// The lines of a head, and the fields that are read further: none ends the process, and what comes out is within its
/// bounds.
enum HeadsTarget {
    static func run(_ input: UnsafeRawBufferPointer) {
        var reader = HeadReader()
        var rest = input
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.count
            let event = reader.read(UnsafeRawBufferPointer(rebasing: rest[..<end]))
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
            if case .head(let head) = event { check(head) }
        }
        require(reader.byteCount == input.count, "bytes were not counted")
    }

    private static func check(_ head: ResponseHead) {
        require((200...999).contains(head.status), "status \(head.status)")
        require(["http/1.0", "http/1.1", "h2"].contains(head.httpVersion), "version \(head.httpVersion)")
        var count = 0
        head.fields.forEach { name, value in
            count += 1
            require(!name.isEmpty && !name.contains(UInt8(ascii: ":")), "a name that is none")
            require(!value.contains(UInt8(ascii: "\n")), "a value of several lines")
            let isTrimmed = [value.first, value.last].allSatisfy { $0.map { $0 != 0x20 && $0 != 0x09 } ?? true }
            require(isTrimmed, "a value with blanks around it")
            checkReaders(String(decoding: value, as: UTF8.self))
        }
        require(count == head.fields.count, "fields were not counted")
        _ = head.fields.lengthFault
        require(head.fields.all("location").first == head.fields.first("location"), "another first field")
        if let reference = head.fields.firstReference("location") {
            let base = try? HTTPURL("http://host.test/a/b?c")
            _ = try? base?.resolving(reference)
        }
        _ = EntityValidator(head)
        let name = SuggestedName(head, url: head.fields.first("location")).text
        let isSafe = !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == 0x2F || $0 == 0 }
        require(isSafe && name.utf8.count <= 255, "a file would be named \(name)")
    }

    /// A cookie that is stored can be sent, and is the same after it was written to a file.
    private static func checkCookie(_ value: String) {
        guard let url = try? HTTPURL("https://www.example.com/a/b"),
            let cookie = SetCookie(value.utf8, at: 1_700_000_000)?.cookie(from: CookieTarget(url))
        else { return }
        require(cookie.problem == nil, "a cookie that cannot be stored")
        require(CookieField.field([cookie]) != nil, "a cookie that cannot be sent")
        let read = try? NetscapeCookies.read(NetscapeCookies.line(cookie), for: nil)
        let isSame = read?.count == 1 && read?[0].hasIdentity(of: cookie) == true && read?[0].value == cookie.value
        require(isSame, "another cookie after it was written")
    }

    /// Values of fields that a request goes by.
    private static func checkReaders(_ value: String) {
        require(ChallengeList.parse(value.utf8).count <= 16, "more challenges than are answered")
        checkCookie(value)
        _ = ContentRange(value)
        _ = HTTPDate.seconds(value, now: 1_700_000_000)
        if let delay = RetryAfter.milliseconds(value, now: 1_700_000_000) { require(delay >= 0, "a delay of \(delay)") }
    }
}
