internal import CarpoolHTTP

extension CachePolicy {
    /// The part of a stored body that a request asks for.
    enum Part: Equatable {
        case all
        case bytes(Range<Int>)
        case unsatisfiable
        /// A range that only the origin can answer.
        case unsupported
    }

    /// The part of a stored body that a request asks for (HR-01, HR-02).
    func part(of response: CachedResponse, _ freshness: Freshness, for request: CacheRequest) -> Part {
        guard request.present.contains(.range), request.method == .get, response.status == 200,
            isRangeWanted(freshness.fields, by: request)
        else { return .all }
        guard let range = request.range else { return .unsupported }
        return range.bytes(of: response.bodyBytes).map { .bytes($0) } ?? .unsatisfiable
    }

    /// Whether `If-Range` holds, or is absent (RFC 9110, section 13.1.5): only a strong validator that is equal does.
    private func isRangeWanted(_ fields: ResponseFields, by request: CacheRequest) -> Bool {
        guard request.present.contains(.ifRange) else { return true }
        guard let value = request.values("if-range").first else { return false }
        if let tag = EntityTag(value), let own = fields.entityTag, tag.isStronglyEqual(to: own) { return true }
        guard let modified = fields.lastModified, let date = fields.date, date &- modified >= 60 else { return false }
        return value == fields.lastModifiedValue
    }

    /// The answer from a stored response.
    func answer(
        _ selected: Selected, _ part: Part, for request: CacheRequest, _ status: CacheOutcome.Status,
        _ reason: CacheReason, forward: CacheOutcome.Forward? = nil
    ) -> CacheAnswer {
        let (response, freshness) = (selected.response, selected.freshness)
        let hidden = status == .revalidated ? [] : freshness.fields.control.noCacheFields
        let fields = CachePolicy.aged(response.fields, freshness.age, hiding: hidden)
        var answer = CacheAnswer(
            index: selected.index, head: response.head(response.status, fields), status: status, forward: forward,
            reason: reason, ageMilliseconds: Int(clamping: freshness.age), ttlMilliseconds: freshness.ttlMilliseconds)
        if isNotModified(response, freshness.fields, for: request) {
            answer.head = response.head(304, CachePolicy.notModified(fields, hasTag: freshness.fields.entityTag != nil))
            answer.range = 0..<0
        } else if case .bytes(let range) = part {
            answer.head = response.head(206, partial(response, fields, freshness.fields, range))
            answer.range = range
        } else if part == .unsatisfiable {
            answer.head = response.head(416, CachePolicy.unsatisfiable(response, fields))
            answer.range = 0..<0
        }
        if request.method == .head { answer.range = 0..<0 }
        return answer
    }

    /// Whether the caller's own conditions make the answer a 304 (HV-04).
    private func isNotModified(
        _ response: CachedResponse, _ fields: ResponseFields, for request: CacheRequest
    ) -> Bool {
        guard !request.present.isDisjoint(with: .conditions), (200..<300).contains(response.status) else {
            return false
        }
        if request.present.contains(.noneMatch) {
            let lists = request.values("if-none-match")
            guard let tag = fields.entityTag else { return lists.contains { $0 == [UInt8(ascii: "*")] } }
            return lists.contains { $0.withUnsafeBytes { tag.isWeaklyIn($0) } }
        }
        let received = Freshness.seconds(response.received.wall)
        let dates = request.values("if-modified-since")
        guard dates.count == 1, let since = dates[0].withUnsafeBytes({ HTTPDate.seconds($0, near: received) }) else {
            return false
        }
        return (fields.lastModified ?? fields.date ?? received) <= since
    }

    /// The fields that a response is served with (HF-08, HC-05).
    static func aged(_ fields: FieldBlock, _ age: Int64, hiding hidden: Set<[UInt8]> = []) -> FieldBlock {
        var isChanged = false
        let isKept = { (name: UnsafeRawBufferPointer) in
            !FieldBytes.matches(name, "age") && (hidden.isEmpty || !hidden.contains(name.map(FieldBytes.lowered)))
        }
        fields.forEach { name, _ in isChanged = isChanged || !isKept(name) }
        var result = isChanged ? fields.filtered(isKept) : fields
        result.append(name: "Age", value: String(age / 1_000))
        return result
    }

    /// The fields of a 304 (RFC 9110, section 15.4.5).
    private static func notModified(_ fields: FieldBlock, hasTag: Bool) -> FieldBlock {
        fields.filtered { name in
            switch name.count {
            case 3: FieldBytes.matches(name, "age")
            case 4:
                FieldBytes.matches(name, "etag") || FieldBytes.matches(name, "date")
                    || FieldBytes.matches(name, "vary")
            case 7: FieldBytes.matches(name, "expires")
            case 13:
                FieldBytes.matches(name, "cache-control") || !hasTag && FieldBytes.matches(name, "last-modified")
            case 16: FieldBytes.matches(name, "content-location")
            default: false
            }
        }
    }

    /// The fields of a 206. Bytes of a decoded body are not those that a strong entity tag stands for.
    private func partial(
        _ response: CachedResponse, _ fields: FieldBlock, _ known: ResponseFields, _ range: Range<Int>
    ) -> FieldBlock {
        let isWeakened = response.isDecoded && known.isEncoded
        var result = fields.filtered { name in
            !FieldBytes.matches(name, "content-length") && !FieldBytes.matches(name, "content-range")
                && !(isWeakened && FieldBytes.matches(name, "etag"))
        }
        if isWeakened, let tag = known.entityTag {
            result.append(name: "ETag", value: String(decoding: tag.weakened, as: UTF8.self))
        }
        let last = range.upperBound - 1
        result.append(name: "Content-Range", value: "bytes \(range.lowerBound)-\(last)/\(response.bodyBytes)")
        result.append(name: "Content-Length", value: String(range.count))
        return result
    }

    private static func unsatisfiable(_ response: CachedResponse, _ fields: FieldBlock) -> FieldBlock {
        var result = fields.filtered { FieldBytes.matches($0, "date") || FieldBytes.matches($0, "age") }
        result.append(name: "Content-Range", value: "bytes */\(response.bodyBytes)")
        result.append(name: "Content-Length", value: "0")
        return result
    }
}

extension CachedResponse {
    /// A head with the response's version.
    func head(_ status: Int, _ fields: FieldBlock) -> ResponseHead {
        ResponseHead(status: status, httpVersion: httpVersion, fields: fields, isStored: true)
    }
}

extension CacheAnswer {
    /// The answer to `only-if-cached` without a usable stored response (RFC 9111, section 5.2.1.7).
    static func gatewayTimeout(_ forward: CacheOutcome.Forward) -> CacheAnswer {
        var fields = FieldBlock()
        fields.append(name: "Content-Length", value: "0")
        let head = ResponseHead(status: 504, httpVersion: "http/1.1", fields: fields, isStored: true)
        return CacheAnswer(
            index: nil, head: head, range: 0..<0, status: .miss, forward: forward, reason: .onlyIfCached)
    }
}
