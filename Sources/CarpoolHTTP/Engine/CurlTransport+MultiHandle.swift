internal import CCurl

/// The transport as the delegate of its multi handles.
extension CurlTransport: MultiHandleDelegate {
    func willCallLibcurl() { budget.beginAction() }

    func transferDidEnd(_ context: UnsafeMutableRawPointer, _ result: CURLcode) {
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        if result != CURLE_OK, asksAboutServer(of: transfer) { return }
        if result == CURLE_OK { transfer.checkRelay() }
        complete(transfer, result)
    }

    /// Resumes a transfer that libcurl has paused.
    func resumeInLibcurl(_ transfer: CurlTransfer, _ easy: EasyHandle) {
        transfer.keepsPiece = false
        transfer.pool?.multi.resume(easy) { transfer.keepsPiece }
    }
}
