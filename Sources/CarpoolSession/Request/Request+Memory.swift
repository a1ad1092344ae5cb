internal import CarpoolHTTP

extension Request {
    /// An estimate of the bytes of memory that the record of a finished request takes, from lengths that are known: no value is gone through.
    /// What came with the request is not counted, but for a body that is kept.
    public var retainedMemoryBytes: Int {
        var bytes = Request.bareBytes
        if case .memory(let body) = body.storage { bytes &+= body.capacity }
        if case .bytes(let body) = attempts.last?.request?.body { bytes &+= body.count }
        for result in results { bytes &+= result.memoryBytes(bodyBytes: Int(clamping: body.count)) }
        return bytes &+ attemptBytes
    }

    /// What the attempts so far take.
    var attemptBytes: Int { attempts.indices.reduce(0) { $0 &+ attempts[$1].memoryBytes } }

    /// What it has come to take since its call: its attempts, and what an adapter has put into the body. Little is not counted.
    var grownBytes: Int {
        var bytes = attemptBytes
        let last = attempts.count - 1
        if last >= 0, let initial = attempts[last].unadapted, let adapted = attempts[last].request {
            bytes &+= max(0, adapted.body.memoryBytes &- initial.body.memoryBytes)
        }
        return bytes <= Request.uncountedBytes ? 0 : bytes
    }

    /// What an attempt with a usual head takes.
    private static let uncountedBytes = 4_096

    /// A request without fields and body, with its entries in the daemon's tables.
    static let bareBytes = 3_072
}

// What a request holds while it goes on: it may have a hundred attempts, each with redirects, and wait long for each.
extension Request {
    /// Bytes of fields of all attempts that are kept when a request is sent again: those of a hundred usual ones.
    private static let keptFieldBytes = 131_072
    /// What the attempts of a request may take for it to be sent again, their URLs above all.
    static let mostAttemptBytes = 4_194_304

    /// Lets go of the fields of a response behind which there is another hop.
    func letGoOfLastHop() {
        let attempt = attempts.count - 1
        guard attempt >= 0 else { return }
        let hop = attempts[attempt].hops.count - 1
        guard hop >= 0, let response = attempts[attempt].hops[hop].response else { return }
        attempts[attempt].hops[hop].response = response.withoutFields
    }

    /// Lets go of the bytes that the last attempt has sent: another one makes them again. Files and sources stay, which other attempts use.
    func letGoOfSentBytes() {
        let last = attempts.count - 1
        guard last >= 0 else { return }
        if case .bytes = attempts[last].request?.body { attempts[last].request?.body = .none }
        if case .bytes = attempts[last].unadapted?.body { attempts[last].unadapted?.body = .none }
    }

    /// Lets go of the fields of all responses.
    func letGoOfAllFields() {
        for attempt in attempts.indices {
            guard let response = attempts[attempt].response else { continue }
            attempts[attempt].response = response.withoutFields
            let hop = attempts[attempt].hops.count - 1
            if hop >= 0 { attempts[attempt].hops[hop].response = response.withoutFields }
        }
        response = response?.withoutFields
    }

    /// Lets go of the fields of the last attempt's response, if those of all attempts together take too much: the request waits to be sent again.
    func letGoOfFields() {
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
    /// A hop besides its URL and the fields of its response.
    private static let bareHopBytes = 1_024

    /// What it takes besides the body.
    var memoryBytes: Int {
        var bytes = 0
        for index in hops.indices {
            bytes &+= Attempt.bareHopBytes &+ hops[index].url.memoryBytes
        }
        // That of its last hop; those of others have no fields.
        if let response { bytes &+= response.fields.memoryBytes }
        // The texts are those of the session and of the call, except for what an adapter adds; the list is the attempt's own.
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
    /// A tree takes up to so many times the bytes that it was read from.
    private static let treeFactor = 32

    /// What its value takes. A daemon's serializers give no trees.
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
    /// What it takes of memory, where it is bytes.
    fileprivate var memoryBytes: Int {
        if case .bytes(let bytes) = self { bytes.count } else { 0 }
    }
}
