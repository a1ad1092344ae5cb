internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

// The steps of a download.
extension EventPublisher {
    func request(_ request: Request, taskDidWrite count: Int, completed: Int64, total: Int64?) {
        publish(.taskDidWriteData, request: request) { writer in
            writer.member("size_bytes", count)
            writer.member("received_bytes", completed)
            writer.member("total_bytes", total)
        }
    }

    func request(_ request: Request, taskDidResumeAt offset: Int64, total: Int64?) {
        publish(.taskDidResumeAtOffset, request: request) { writer in
            writer.member("offset_bytes", offset)
            writer.member("total_bytes", total)
        }
    }

    func request(_ request: Request, taskDidFinishDownloadingTo path: String) {
        publish(.taskDidFinishDownloading, request: request) { $0.member("file", path) }
    }

    func request(_ request: Request, didCreateDestination path: String) {
        publish(.requestDidCreateDestinationURL, request: request) { $0.member("file", path) }
    }

    func request(_ request: Request, didFinishDownloading result: Result<String, SessionError>) {
        publish(.requestDidFinishDownloading, request: request) { writer in
            switch result {
            case .success(let path): writer.member("file", path)
            case .failure(let error):
                writer.key("error")
                record.write(error, to: &writer)
            }
        }
    }

    func request(_ request: Request, didProgressTo completed: Int64, total: Int64?) {
        publish(.requestProgress, request: request) { writer in
            writer.member("received_bytes", completed)
            writer.member("total_bytes", total)
            // The token's owner can resume the download and read the file.
            if let token = request.resumeData, disclosure.mayShowSecret() { writer.member("resume_data", token) }
        }
    }
}
