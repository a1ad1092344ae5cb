internal import CarpoolHTTP

extension Request {
    /// An estimate of the memory in bytes of a finished request's record, computed from known lengths without walking
    /// any value. What came with the request is not counted, except for a body that is kept.
    public var retainedMemoryBytes: Int {
        var bytes = Request.baseBytes
        if case .memory(let body) = body.storage { bytes &+= body.capacity }
        if case .bytes(let body) = attempts.last?.request?.body { bytes &+= body.count }
        for result in results { bytes &+= result.memoryBytes(bodyBytes: Int(clamping: body.count)) }
        return bytes &+ attemptBytes &+ (heads?.memoryBytes ?? 0) &+ (parameters.cookies?.memoryBytes ?? 0)
    }

    /// The memory of the attempts so far, in bytes.
    var attemptBytes: Int { attempts.indices.reduce(0) { $0 &+ attempts[$1].memoryBytes } }

    /// The memory that was added since the call: the attempts, and what an adapter added to the body. Small amounts are
    /// not counted.
    var addedBytes: Int {
        var bytes = attemptBytes
        let last = attempts.count - 1
        if last >= 0, let initial = attempts[last].unadapted, let adapted = attempts[last].request {
            bytes &+= max(0, adapted.body.memoryBytes &- initial.body.memoryBytes)
        }
        return bytes <= Request.uncountedBytes ? 0 : bytes
    }

    /// The memory of an attempt with a usual head.
    private static let uncountedBytes = 4_096

    /// The memory of a request without fields and body, with its entries in the daemon's tables.
    static let baseBytes = 3_072
}

// The memory of an active request: it may have a hundred attempts, each with redirects, and wait long for each.
extension Request {
    /// The limit in bytes for the kept fields of all attempts when a request is retried: those of a hundred usual
    /// attempts.
    private static let keptFieldBytes = 131_072
    /// The limit in bytes for the attempts of a request that is retried; URLs take most of it.
    static let maximumAttemptBytes = 4_194_304

    /// The fields of a redirect that are kept: where it leads, and what it sets.
    private static let redirectFields: [StaticString] = ["location", "set-cookie"]
    /// The limit in bytes for those of one redirect: twice a usual cookie.
    private static let redirectFieldBytes = 8_192

    /// Releases the fields of a response that was followed by another hop, but for those of redirects.
    func releaseLastHopFields() {
        let attempt = attempts.count - 1
        guard attempt >= 0 else { return }
        let hop = attempts[attempt].hops.count - 1
        guard hop >= 0, let response = attempts[attempt].hops[hop].response else { return }
        attempts[attempt].hops[hop].response = response.keeping(
            Request.redirectFields, atMost: Request.redirectFieldBytes)
    }

    /// Releases the bytes that the last attempt sent: a retry makes them again. Files and sources stay, because other
    /// attempts use them.
    func releaseSentBytes() {
        let last = attempts.count - 1
        guard last >= 0 else { return }
        if case .bytes = attempts[last].request?.body { attempts[last].request?.body = .none }
        if case .bytes = attempts[last].unadapted?.body { attempts[last].unadapted?.body = .none }
    }

    /// Releases the certificates and lists with which a finished request has verified servers, if they are its own.
    /// Nothing that shows the request needs them.
    func releaseTrustMaterial() {
        guard parameters.options.trust.isGiven else { return }
        parameters.options.trust.set(parameters.options.trust.value.withoutMaterial)
        parameters.options.serverTrustManager.set(.some(nil))
        for index in attempts.indices {
            if let trust = attempts[index].request?.partition.trust {
                attempts[index].request?.partition.trust = trust.withoutMaterial
            }
            if let trust = attempts[index].unadapted?.partition.trust {
                attempts[index].unadapted?.partition.trust = trust.withoutMaterial
            }
        }
    }

    /// Releases the fields of all responses.
    func releaseAllFields() {
        for attempt in attempts.indices {
            guard let response = attempts[attempt].response else { continue }
            attempts[attempt].response = response.withoutFields
            let hop = attempts[attempt].hops.count - 1
            if hop >= 0 { attempts[attempt].hops[hop].response = response.withoutFields }
        }
        response = response?.withoutFields
    }

    /// Releases the fields of the last attempt's response before a retry, if the fields of all attempts exceed the
    /// limit.
    func releaseFieldsOverLimit() {
        let last = attempts.count - 1
        guard last >= 0, let response = attempts[last].response else { return }
        let bytes = attempts.reduce(0) { $0 &+ ($1.response?.fields.memoryBytes ?? 0) }
        guard bytes > Request.keptFieldBytes else { return }
        let short = response.withoutFields
        attempts[last].response = short
        self.response = short
        let hop = attempts[last].hops.count - 1
        if hop >= 0 { attempts[last].hops[hop].response = short }
    }
}

extension Attempt {
    /// The memory of what is known of certificates, in bytes.
    private static func bytes(ofCertificates lines: [[String]]) -> Int {
        lines.reduce(0) { $1.reduce($0) { $0 &+ $1.utf8.count &+ MemoryLayout<String>.stride } }
    }

    /// The memory of a hop without its URL and the fields of its response.
    private static let baseHopBytes = 1_024

    /// The memory of the attempt without the body, in bytes.
    var memoryBytes: Int {
        var bytes = 0
        for index in hops.indices {
            bytes &+= Attempt.baseHopBytes &+ hops[index].url.memoryBytes
            bytes &+= hops[index].fields?.cookie?.value.utf8.count ?? 0
            bytes &+= hops[index].metrics?.certificates.map { Attempt.bytes(ofCertificates: $0) } ?? 0
        }
        for hop in hops.dropLast() { bytes &+= hop.response?.fields.memoryBytes ?? 0 }
        if let response { bytes &+= response.fields.memoryBytes }
        // The texts belong to the session and to the call, except for what an adapter adds; the list belongs to the
        // attempt.
        if unadapted != nil, let request {
            bytes &+= Attempt.bytes(of: request.fields)
        } else if let request {
            bytes &+= request.fields.count &* MemoryLayout<HTTPField>.stride
        }
        return bytes
    }

    private static func bytes(of fields: [HTTPField]) -> Int {
        fields.reduce(0) { $0 &+ $1.name.utf8.count &+ $1.value.utf8.count &+ 96 }
    }
}

extension SerializedResponse {
    /// The largest ratio between the memory of a parsed tree and the bytes that it was read from.
    private static let treeFactor = 32

    /// The memory of the value, in bytes. A daemon's serializers return no trees.
    func memoryBytes(bodyBytes: Int) -> Int {
        switch result {
        case .failure, .success(.none), .success(.omitted): 0
        case .success(.data(let bytes)): bytes.count
        case .success(.string(let text)): text.utf8.count
        case .success(.jsonText(let text)): text.bytes.count
        case .success(.json), .success(.structured): bodyBytes &* SerializedResponse.treeFactor
        }
    }
}

extension RequestBody {
    /// The memory of the body, in bytes, if it is held in memory.
    fileprivate var memoryBytes: Int {
        if case .bytes(let bytes) = self { bytes.count } else { 0 }
    }
}
