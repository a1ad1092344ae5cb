internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

// The steps of a request that are about the body that it sends.
extension EventPublisher {
    func request(_ request: Request, didCreateUploadable upload: CreatedUpload) {
        publish(.requestDidCreateUploadable, request: request) { writer in
            writer.member("kind", upload.kind.rawValue)
            writer.member("size_bytes", upload.body.lengthBytes)
        }
    }

    func request(_ request: Request, didFailToCreateUploadableWith error: SessionError) {
        publish(.requestDidFailToCreateUploadable, request: request) { writer in
            writer.key("error")
            record.write(error, to: &writer)
        }
    }

    func requestTaskNeedsNewBodyStream(_ request: Request) {
        publish(.taskNeedsNewBodyStream, request: request)
    }

    func requestDidProvideInputStream(_ request: Request) {
        publish(.requestDidProvideInputStream, request: request)
    }

    func request(_ request: Request, taskDidSendBodyBytes count: Int, progress: UploadProgress) {
        publish(.taskDidSendBodyData, request: request) { writer in
            writer.member("size_bytes", count)
            write(progress, to: &writer)
        }
    }

    func request(_ request: Request, didUpload progress: UploadProgress) {
        publish(.requestUploadProgress, request: request) { write(progress, to: &$0) }
    }

    private func write(_ progress: UploadProgress, to writer: inout JSONWriter) {
        writer.member("sent_bytes", progress.sentBytes)
        writer.member("total_bytes", progress.totalBytes)
    }
}
