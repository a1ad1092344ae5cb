public import CarpoolHTTP
internal import CarpoolSystem
internal import CZlib

/// Compresses the bodies of requests (CO-01 to CO-07). Bodies in memory only: others pass unchanged.
///
/// A body of more than 256 KiB is compressed by a thread of the worker, at 40 to 100 MB a second; a smaller one on the
/// session's loop.
public final class RequestCompressor: RequestInterceptor {
    /// The format, by its name in `Content-Encoding`.
    public enum Format: String, Sendable {
        /// DEFLATE in zlib's wrapping (RFC 1950; RFC 9110, section 8.4.1.2).
        case deflate
        /// DEFLATE in gzip's wrapping (RFC 1952).
        case gzip
    }

    /// How a request that already has a `Content-Encoding` is handled.
    public enum Duplicate: String, Sendable {
        /// The adaptation fails with `duplicate_header` (CO-04).
        case error
        /// The body is compressed and the field replaced (CO-05).
        case replace
        /// The request passes unchanged (CO-06).
        case skip
    }

    private let format: Format
    private let duplicate: Duplicate
    private let minimumBytes: Int

    /// The compression level of the model's two header bytes `78 5E` (CO-07; RFC 1950, section 2.2).
    private static let level: Int32 = 5

    /// Makes a compressor. Bodies of fewer than `minimumBytes` pass unchanged (CO-03).
    public init(format: Format = .deflate, duplicate: Duplicate = .error, minimumBytes: Int = 0) {
        self.format = format
        self.duplicate = duplicate
        self.minimumBytes = minimumBytes
    }

    /// Returns the request with a compressed body; a large one is compressed by a thread of the worker.
    public func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        do throws(SessionError) {
            guard let body = try bodyToCompress(of: urlRequest), body.count > FileStore.inlineBytes else {
                return completion(.success(try compressed(urlRequest)))
            }
            compressInBackground(body, of: urlRequest, for: request, completion: completion)
        } catch {
            completion(.failure(error))
        }
    }

    func compressed(_ request: TransportRequest) throws(SessionError) -> TransportRequest {
        guard let body = try bodyToCompress(of: request) else { return request }
        return try RequestCompressor.replaceBody(of: request, by: try RequestCompressor.deflate(body, format), format)
    }

    private func compressInBackground(
        _ body: [UInt8], of urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        let (files, format) = (request.session.files, format)
        let work = { @Sendable () -> Result<[UInt8], SessionError> in
            do throws(SessionError) {
                return .success(try RequestCompressor.deflate(body, format))
            } catch {
                return .failure(error)
            }
        }
        files.run(for: files.shareOfRequest(request).computation, work) { result in
            do throws(SessionError) {
                let bytes = try result.get().get()
                completion(.success(try RequestCompressor.replaceBody(of: urlRequest, by: bytes, format)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Returns the body if it is to be compressed.
    private func bodyToCompress(of request: TransportRequest) throws(SessionError) -> [UInt8]? {
        guard case .bytes(let body) = request.body, body.count >= minimumBytes else { return nil }
        guard request.fields.contains(where: { $0.isNamed("content-encoding") }) else { return body }
        switch duplicate {
        case .error: throw .duplicateHeader("Content-Encoding")
        case .skip: return nil
        case .replace: return body
        }
    }

    private static func replaceBody(
        of request: TransportRequest, by bytes: [UInt8], _ format: Format
    ) throws(SessionError) -> TransportRequest {
        var next = request
        next.body = .bytes(bytes)
        next.fields.removeAll { $0.isNamed("content-encoding") }
        do throws(HTTPField.Refusal) {
            next.fields.append(try HTTPField(name: "Content-Encoding", value: format.rawValue))
        } catch {
            throw .compressionFailed(error.description)
        }
        return next
    }

    static func deflate(_ bytes: [UInt8], _ format: Format) throws(SessionError) -> [UInt8] {
        // zlib counts in 32 bits.
        guard let length = UInt32(exactly: bytes.count) else { throw .compressionFailed("the body is too long") }
        var stream = z_stream()
        guard CZlib_deflateInit(&stream, level, format == .gzip ? 31 : 15) == Z_OK else {
            throw .compressionFailed("out of memory")
        }
        defer { deflateEnd(&stream) }
        guard let bound = UInt32(exactly: deflateBound(&stream, UInt(length))) else {
            throw .compressionFailed("the body is too long")
        }
        var input = bytes
        var code = Z_STREAM_ERROR
        let output = [UInt8](unsafeUninitializedCapacity: Int(bound)) { buffer, count in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = length
                stream.next_out = buffer.baseAddress
                stream.avail_out = bound
                code = CZlib.deflate(&stream, Z_FINISH)
            }
            count = Int(bound &- stream.avail_out)
        }
        guard code == Z_STREAM_END else { throw .compressionFailed("zlib returned the code \(code)") }
        return output
    }
}
